"""Built-in objects as Go's structs hold and write them (K7, K29)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.types.fields import expanded, kinds, schema_of, schemas
from listwatch.testing.apiserver.types.go_structs import Decoding, Struct, WrongType, struct_of
from listwatch.testing.apiserver.types.quantities import canonical_quantity


def struct(api_version: str, kind: str) -> Struct:
    found = struct_of(api_version, kind)
    assert found is not None
    return found


def read(api_version: str, kind: str, value: Any) -> tuple[Any, list[str]]:
    reading = Decoding()
    return struct(api_version, kind).decode(value, "", "", reading), reading.unknown


def wrong(api_version: str, kind: str, value: Any) -> tuple[str, str, str]:
    with pytest.raises(WrongType) as caught:
        read(api_version, kind, value)
    return caught.value.struct, caught.value.path, caught.value.go_type


def test_what_is_unknown_is_dropped_and_told_however_deep() -> None:
    container = {"name": "c", "nope": 1, "env": [{"name": "A", "x": 1}]}
    value = {"spec": {"containers": [container], "bogus": {}}, "more": 1}
    assert read("v1", "Pod", value) == (
        {"spec": {"containers": [{"name": "c", "env": [{"name": "A"}]}]}},
        ["spec.containers[0].nope", "spec.containers[0].env[0].x", "spec.bogus", "more"],
    )


def test_what_is_refused_when_it_is_empty_is_held() -> None:
    behavior = {"scaleUp": {"policies": []}}
    held, _ = read(
        "autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"behavior": behavior, "metrics": []}}
    )
    assert held == {"spec": {"behavior": behavior}}
    written = struct("autoscaling/v2", "HorizontalPodAutoscaler").written(
        {"spec": {"behavior": {"scaleUp": {}}}}
    )
    assert written["spec"]["behavior"] == {"scaleUp": {}}


def test_what_is_empty_is_left_out_unless_go_writes_it() -> None:
    spec = {"hostNetwork": False, "nodeName": "", "volumes": [], "securityContext": {}}
    held, _ = read("v1", "Pod", {"spec": {**spec, "hostname": None, "priority": 0}})
    assert held == {"spec": {"securityContext": {}, "priority": 0}}
    assert struct("v1", "Pod").written({"spec": {"nodeName": "n"}}) == {
        "metadata": {},
        "spec": {"containers": None, "nodeName": "n"},
        "status": {},
    }


def test_members_are_written_in_the_order_of_the_struct() -> None:
    spec = {"nodeName": "n", "containers": [{"image": "i", "name": "c", "resources": {}}]}
    written = struct("v1", "Pod").written({"status": {}, "spec": spec, "metadata": {}})
    assert list(written) == ["metadata", "spec", "status"]
    assert list(written["spec"]) == ["containers", "nodeName"]
    assert list(written["spec"]["containers"][0]) == ["name", "image", "resources"]
    assert struct("v1", "Pod").written(written) is written


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"replicas": "3"}, ("DeploymentSpec", "spec.replicas", "int32")),
        ({"replicas": 1 << 31}, ("DeploymentSpec", "spec.replicas", "int32")),
        ({"replicas": 1.5}, ("DeploymentSpec", "spec.replicas", "int32")),
        ({"paused": "no"}, ("DeploymentSpec", "spec.paused", "bool")),
        ({"selector": []}, ("DeploymentSpec", "spec.selector", "v1.LabelSelector")),
        (
            {"template": {"spec": {"containers": {}}}},
            ("PodSpec", "spec.template.spec.containers", "[]v1.Container"),
        ),
        (
            {"template": {"spec": {"nodeSelector": {"a": 1}}}},
            ("PodSpec", "spec.template.spec.nodeSelector", "string"),
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": True}}},
            ("RollingUpdateDeployment", "spec.strategy.rollingUpdate.maxSurge", "int32"),
        ),
    ],
)
def test_json_types_must_be_those_of_go(spec: Any, said: tuple[str, str, str]) -> None:
    assert wrong("apps/v1", "Deployment", {"spec": spec}) == said


@pytest.mark.parametrize(
    ("spec", "struct_name", "path", "go_type"),
    [
        (
            {"containers": [{"livenessProbe": {"grpc": {"port": "a"}}}]},
            "GRPCAction",
            "containers.livenessProbe.ProbeHandler.grpc.port",
            "int32",
        ),
        (
            {"volumes": [{"name": "v", "configMap": {"name": 1}}]},
            "ConfigMapVolumeSource",
            "volumes.VolumeSource.configMap.LocalObjectReference.name",
            "string",
        ),
        (
            {"ephemeralContainers": [{"livenessProbe": {"exec": 1}}]},
            "Probe",
            "ephemeralContainers.EphemeralContainerCommon.livenessProbe.ProbeHandler.exec",
            "v1.ExecAction",
        ),
        (
            {"ephemeralContainers": [{"targetContainerName": 1}]},
            "EphemeralContainer",
            "ephemeralContainers.targetContainerName",
            "string",
        ),
    ],
)
def test_paths_name_structs_whose_members_are_those_of_another(
    spec: Any, struct_name: str, path: str, go_type: str
) -> None:
    said = (struct_name, f"spec.{path}", go_type)
    assert wrong("v1", "Pod", {"spec": spec}) == said


def test_paths_of_what_is_unknown_do_not_name_them() -> None:
    probe = {"exec": {"nope": 1}}
    _, unknown = read("v1", "Pod", {"spec": {"ephemeralContainers": [{"livenessProbe": probe}]}})
    assert unknown == ["spec.ephemeralContainers[0].livenessProbe.exec.nope"]


def test_structs_can_be_inside_of_each_other() -> None:
    policy = {"matchConstraints": {"resourceRules": [{"apiGroups": 1}]}}
    assert wrong(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", {"spec": policy}
    ) == (
        "NamedRuleWithOperations",
        "spec.matchConstraints.resourceRules.RuleWithOperations.Rule.apiGroups",
        "[]string",
    )


def test_bytes_may_be_a_list_of_numbers() -> None:
    held, _ = read("v1", "Secret", {"data": {"a": [104, 105, None], "b": "aGk="}})
    assert held == {"data": {"a": "aGkA", "b": "aGk="}}
    assert wrong("v1", "Secret", {"data": {"a": [1, 256]}}) == ("Secret", "data", "uint8")
    assert wrong("v1", "Secret", {"data": {"a": {}}}) == ("Secret", "data", "[]uint8")


@pytest.mark.parametrize("amount", [True, [1], {}])
def test_a_quantity_says_by_itself_what_is_none(amount: Any) -> None:
    with pytest.raises(WrongType) as caught:
        read("v1", "PersistentVolume", {"spec": {"capacity": {"storage": amount}}})
    assert caught.value.text.startswith("quantities must match the regular expression")


def test_every_kind_has_a_struct_whose_members_are_all_known() -> None:
    for kind in kinds():
        group_version, _, name = kind.rpartition("/")
        found = struct_of(group_version, name)
        assert found is not None, kind
        if name == "WatchEvent":
            continue  # which is no object, and has no members of JSON in Go
        for member, (value, _) in found.fields.items():
            assert value.go_type, f"{kind}.{member}"
    assert struct_of("v1", "Nonsense") is None


def test_a_schema_is_as_openapi_has_it() -> None:
    volume = expanded(schemas()["io.k8s.api.core.v1.PodSpec"])["properties"]["volumes"]
    assert volume == {
        "items": {
            "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Volume"}],
            "default": {},
        },
        "type": "array",
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-patch-merge-key": "name",
        "x-kubernetes-patch-strategy": "merge,retainKeys",
    }
    assert schema_of("v1", "Nonsense") is None


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("0.1Ki", "102400m"),
        ("1000k", "1M"),
        ("1e3", "1e3"),
        ("12E6", "12E6"),
        ("0.1n", "1n"),
        ("-5", "-5"),
        ("+0", "0"),
        ("100", "100"),
    ],
)
def test_quantities_have_a_canonical_form(text: str, canonical: str) -> None:
    assert canonical_quantity(text) == canonical
    assert canonical_quantity(canonical) == canonical


@pytest.mark.parametrize("text", ["", "a", "1 Gi", "1gi", "1e", "--1", "1KiB"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"quantities must match|parse quantity's suffix"):
        canonical_quantity(text)


def _crd(**schema: Any) -> dict[str, Any]:
    return {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}


_CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_SCHEMA = "spec.versions.schema.openAPIV3Schema"


@pytest.mark.parametrize(
    ("schema", "path", "go_type"),
    [
        ({"items": [1]}, "items", "v1.JSONSchemaProps"),
        ({"items": {"type": 1}}, "items.type", "string"),
        ({"items": {"externalDocs": {"url": 1}}}, "items.externalDocs.url", "string"),
        ({"additionalProperties": {"allOf": 1}}, "additionalProperties.allOf", None),
        ({"dependencies": {"a": [1]}}, "dependencies", "string"),
    ],
)
def test_schemas_that_may_be_something_else_have_members(
    schema: Any, path: str, go_type: str | None
) -> None:
    go_type = go_type or "[]v1.JSONSchemaProps"
    assert wrong(*_CRD, _crd(**schema)) == ("JSONSchemaProps", f"{_SCHEMA}.{path}", go_type)


def test_in_their_place_lists_names_or_booleans_are_taken() -> None:
    schema = {
        "items": [{"type": "string", "nope": 1}],
        "additionalProperties": False,
        "dependencies": {"a": ["b"], "c": {"type": "object"}},
    }
    held, unknown = read(*_CRD, _crd(**schema))
    assert held == _crd(**{**schema, "items": [{"type": "string"}]})
    assert unknown == []
    with pytest.raises(WrongType) as caught:
        read(*_CRD, _crd(additionalProperties=1))
    assert caught.value.text == "boolean or JSON schema expected"
