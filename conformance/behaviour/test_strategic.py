"""Strategic merge patches, and what is said of fields that are unknown or come twice."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.objects import CustomResource, deployment
from conformance.requests import Json, Response

_STRATEGIC = "application/strategic-merge-patch+json"
_MERGE = "application/merge-patch+json"
_PATHS = {"configmaps": "v1", "deployments": "apps/v1"}


def _patch(space: Space, plural: str, patch: object, **query: Any) -> Response:
    return space.ask("PATCH", space.path(plural, "a", **query), patch, Content_Type=_STRATEGIC)


def _pod_spec(answer: Response) -> Json:
    spec = answer.json()["spec"]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


def _deployment(space: Space, *names: str, **spec: Any) -> Json:
    made = deployment("a", 1)
    containers = [{"name": name, "image": "i"} for name in names]
    made["spec"]["template"]["spec"] = {"containers": containers, **spec}
    return space.put(made, "deployments")


def _in_pod(**spec: Any) -> Json:
    return {"spec": {"template": {"spec": spec}}}


def test_containers_merge_by_name(space: Space) -> None:
    """A container in the patch changes the one of its name; a new one is added (K30)."""
    _deployment(space, "a", "b")
    patch = _in_pod(containers=[{"name": "b", "image": "new"}])
    found = _pod_spec(_patch(space, "deployments", patch))["containers"]
    assert [(one["name"], one["image"]) for one in found] == [("a", "i"), ("b", "new")]
    found = _pod_spec(
        _patch(space, "deployments", _in_pod(containers=[{"name": "c", "image": "i"}]))
    )
    assert sorted(one["name"] for one in found["containers"]) == ["a", "b", "c"]


def test_items_can_be_deleted_and_lists_replaced(space: Space) -> None:
    """`$patch: delete` takes an item away, `$patch: replace` all the others."""
    _deployment(space, "a", "b", "c")
    patch = _in_pod(containers=[{"name": "b", "$patch": "delete"}])
    found = _pod_spec(_patch(space, "deployments", patch))["containers"]
    assert [one["name"] for one in found] == ["a", "c"]
    patch = _in_pod(containers=[{"$patch": "replace"}, {"name": "d", "image": "i"}])
    found = _pod_spec(_patch(space, "deployments", patch))["containers"]
    assert [one["name"] for one in found] == ["d"]


def test_the_order_can_be_said(space: Space) -> None:
    """`$setElementOrder` puts the items in its order."""
    _deployment(space, "a", "b", "c")
    order = [{"name": name} for name in "cab"]
    patch = _in_pod(**{"$setElementOrder/containers": order})
    found = _pod_spec(_patch(space, "deployments", patch))["containers"]
    assert [one["name"] for one in found] == ["c", "a", "b"]


def test_tolerations_are_replaced(space: Space) -> None:
    """Lists without a merge key are replaced."""
    _deployment(space, "a", tolerations=[{"key": "x", "operator": "Exists"}])
    patch = _in_pod(tolerations=[{"key": "y", "operator": "Exists"}])
    found = _pod_spec(_patch(space, "deployments", patch))["tolerations"]
    assert [one["key"] for one in found] == ["y"]


def test_a_volume_changes_its_source(space: Space) -> None:
    """`$retainKeys` lets nothing stay that it does not name."""
    _deployment(space, "a", volumes=[{"name": "v", "emptyDir": {}}])
    source = {"path": "/x", "type": ""}
    volume = {"$retainKeys": ["name", "hostPath"], "name": "v", "hostPath": source}
    found = _pod_spec(_patch(space, "deployments", _in_pod(volumes=[volume])))["volumes"]
    assert found == [{"name": "v", "hostPath": source}]


def test_finalizers_are_a_set(space: Space) -> None:
    """Finalizers are added to, and taken away by `$deleteFromPrimitiveList`."""
    space.put({"metadata": {"name": "a", "finalizers": ["x.com/a", "x.com/b"]}})
    answer = _patch(space, "configmaps", {"metadata": {"finalizers": ["x.com/c"]}})
    assert sorted(answer.json()["metadata"]["finalizers"]) == ["x.com/a", "x.com/b", "x.com/c"]
    gone = ["x.com/a", "x.com/b", "x.com/c"]
    answer = _patch(
        space, "configmaps", {"metadata": {"$deleteFromPrimitiveList/finalizers": gone}}
    )
    assert "finalizers" not in answer.json()["metadata"]


@pytest.mark.parametrize(
    ("patch", "code", "text"),
    [
        (
            _in_pod(containers=[{"image": "x"}]),
            500,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        ({"$patch": "bogus"}, 500, "unknown patch type: bogus in map: map[$patch:bogus]"),
        ({"spec": {"$retainKeys": 5}}, 400, "invalid patch format of retainKeys"),
        ({"spec": {"$setElementOrder": []}}, 400, "invalid patch format of setElementOrder list"),
        (
            {"metadata": {"$deleteFromPrimitiveList": []}},
            400,
            "invalid patch format of primitive list",
        ),
        (
            {"spec": {"replicas": "x"}},
            422,
            ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: '
            "int32",
        ),
        (
            _in_pod(containers=5),
            422,
            ' "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[containers:5'
            ']]]]": cannot restore slice from int64',
        ),
        (
            {"spec": {"strategy": {"rollingUpdate": {"maxSurge": [1]}}}},
            422,
            ' "" is invalid: patch: Invalid value: "map[spec:map[strategy:map[rollingUpdate:map['
            'maxSurge:[1]]]]]": json: cannot unmarshal array into Go value of type int32',
        ),
        (
            _in_pod(volumes=[{"name": "a", "emptyDir": {"medium": 1}}]),
            422,
            ' "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[volumes:['
            'map[emptyDir:map[medium:1] name:a]]]]]]": cannot convert int64 to v1.StorageMedium',
        ),
        (
            {"spec": {"replicas": 1.5}},
            422,
            ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:1.5]]": cannot convert '
            "float64 to int32",
        ),
        ([1], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_patches_that_make_no_sense(space: Space, patch: object, code: int, text: str) -> None:
    """Directives and values that make no sense are refused."""
    _deployment(space, "a")
    answer = _patch(space, "deployments", patch)
    assert (answer.status, answer.json()["message"]) == (code, text)


def test_custom_resources_have_none(space: Space, widgets: CustomResource) -> None:
    """A strategic merge patch on a custom resource is 415 (K30)."""
    space.put(widgets.object("a"), "widgets")
    assert _patch(space, "widgets", {}).status == 415


# Field validation


def _warnings(answer: Response) -> list[str]:
    return [
        text.removeprefix('299 - "').removesuffix('"').replace('\\"', '"')
        for text in answer.headers.get_all("Warning") or []
    ]


_BODY = b"""{"metadata": {"name": "b", "bogus": 1},
"spec": {"selector": {"matchLabels": {"a": "b"}}, "nope": 1,
"template": {"metadata": {"labels": {"a": "b", "a": "b"}}, "spec": {"containers":
[{"name": "c", "image": "i", "port": 1}, {"name": "d", "image": "i", "env": [{"nme": "x"}]}]}}}}"""
_FOUND = [
    'duplicate field "spec.template.metadata.labels.a"',
    'unknown field "metadata.bogus"',
    'unknown field "spec.nope"',
    'unknown field "spec.template.spec.containers[0].port"',
    'unknown field "spec.template.spec.containers[1].env[0].nme"',
]


@pytest.mark.parametrize("validation", [None, "Warn"])
def test_unknown_fields_are_warned_of(space: Space, validation: str | None) -> None:
    """Each unknown or duplicate field, however deep, is a Warning of its own (K29)."""
    body = _BODY.replace(b', "env": [{"nme": "x"}]', b"")
    answer = space.ask("POST", space.path("deployments", fieldValidation=validation), body)
    assert answer.status == 201
    assert sorted(_warnings(answer)) == sorted(_FOUND[:-1])
    assert "nope" not in answer.json()["spec"]


def test_unknown_fields_can_be_refused(space: Space) -> None:
    """Strict refuses them in one message (K29)."""
    answer = space.ask("POST", space.path("deployments", fieldValidation="Strict"), _BODY)
    code, reason, text = refusal(answer)
    assert (code, reason) == (400, "BadRequest")
    start = 'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
    assert text.startswith(start)
    assert sorted(text.removeprefix(start).split(", ")) == sorted(_FOUND)


def test_unknown_fields_can_be_ignored(space: Space) -> None:
    """Ignore drops them without a word (K29)."""
    body = _BODY.replace(b', "env": [{"nme": "x"}]', b"")
    answer = space.ask("POST", space.path("deployments", fieldValidation="Ignore"), body)
    assert (answer.status, _warnings(answer)) == (201, [])


def test_members_that_come_twice_in_yaml(space: Space) -> None:
    """Of YAML the line is told of each member that comes again; Strict tells all at once (K29)."""
    body = b"metadata: {name: a}\ndata: {a: '1'}\ndata:\n  b: '1'\n  b: '2'\nbogus: 1\n"
    lines = ['line 5: key "b" already set in map', 'line 4: key "data" already set in map']
    path = space.path(fieldValidation="Strict")
    answer = space.ask("POST", path, body, Content_Type="application/yaml")
    assert refusal(answer)[2].endswith(
        "strict decoding error: yaml: unmarshal errors:\n  "
        + "\n  ".join(lines)
        + ', unknown field "bogus"'
    )
    answer = space.ask("POST", space.path(), body, Content_Type="application/yaml")
    assert (answer.status, answer.json()["data"]) == (201, {"b": "2"})
    assert _warnings(answer) == [*lines, 'unknown field "bogus"']


@pytest.mark.parametrize("kind", [_MERGE, _STRATEGIC])
def test_unknown_fields_of_patches(space: Space, kind: str) -> None:
    """Patches are looked at alike: Warn by default, Strict is 422 (K29)."""
    _deployment(space, "a")
    patch = b'{"metadata": {"labels": {"x": "1", "x": "2"}}, "spec": {"nope": 1}}'
    found = ['duplicate field "metadata.labels.x"', 'unknown field "spec.nope"']
    answer = space.ask("PATCH", space.path("deployments", "a"), patch, Content_Type=kind)
    assert (answer.status, _warnings(answer)) == (200, found)
    path = space.path("deployments", "a", fieldValidation="Strict")
    answer = space.ask("PATCH", path, patch, Content_Type=kind)
    assert refusal(answer)[:2] == (422, "Invalid")
    assert refusal(answer)[2].endswith(f"strict decoding error: {', '.join(found)}")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"replicas": "3"},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of "
            "type int32",
        ),
        (
            {"paused": 1},
            "json: cannot unmarshal number into Go struct field DeploymentSpec.spec.paused of type "
            "bool",
        ),
        (
            {"template": {"spec": {"containers": [{"image": 5}]}}},
            "json: cannot unmarshal number into Go struct field "
            "Container.spec.template.spec.containers.image of type string",
        ),
        (
            {"template": {"spec": {"containers": {}}}},
            "json: cannot unmarshal object into Go struct field "
            "PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            {"template": {"spec": {"dnsPolicy": 1}}},
            "json: cannot unmarshal number into Go struct field "
            "PodSpec.spec.template.spec.dnsPolicy of type v1.DNSPolicy",
        ),
        (
            {"replicas": 1 << 40},
            "json: cannot unmarshal number 1099511627776 into Go struct field "
            "DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": True}}},
            "json: cannot unmarshal bool into Go struct field "
            "RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            _in_pod(containers=[{"livenessProbe": {"grpc": {"port": "a"}}}])["spec"],
            "json: cannot unmarshal string into Go struct field "
            "GRPCAction.spec.template.spec.containers.livenessProbe.ProbeHandler.grpc.port of type "
            "int32",
        ),
        (
            _in_pod(volumes=[{"name": "v", "secret": 1}])["spec"],
            "json: cannot unmarshal number into Go struct field "
            "Volume.spec.template.spec.volumes.VolumeSource.secret of type v1.SecretVolumeSource",
        ),
        (
            _in_pod(containers=[{"envFrom": [{"configMapRef": {"name": 1}}]}])["spec"],
            "json: cannot unmarshal number into Go struct field "
            "ConfigMapEnvSource.spec.template.spec.containers.envFrom.configMapRef."
            "LocalObjectReference.name of type string",
        ),
        (
            _in_pod(ephemeralContainers=[{"name": 1}])["spec"],
            "json: cannot unmarshal number into Go struct field EphemeralContainer."
            "spec.template.spec.ephemeralContainers.EphemeralContainerCommon.name of type string",
        ),
        (
            _in_pod(containers=[{"resources": {"limits": {"cpu": True}}}])["spec"],
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_members_of_the_wrong_type(space: Space, spec: Json, text: str) -> None:
    """A member of another JSON type than Go's is 400, wherever it is."""
    answer = space.ask("POST", space.path("deployments"), {"metadata": {"name": "a"}, "spec": spec})
    start = 'Deployment in version "v1" cannot be handled as a Deployment: '
    assert refusal(answer) == (400, "BadRequest", start + text)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        (2, "2"),
        ("1e3", "1e3"),
        ("100Ki", "100Ki"),
    ],
)
def test_quantities_come_back_in_their_canonical_form(
    space: Space, sent: object, kept: str
) -> None:
    """A quantity is written in its canonical form."""
    made = _deployment(space, "a")
    patch = _in_pod(containers=[{"name": "a", "resources": {"limits": {"memory": sent}}}])
    assert made["metadata"]["name"] == "a"
    found = _pod_spec(_patch(space, "deployments", patch))["containers"]
    assert found[0]["resources"]["limits"]["memory"] == kept
