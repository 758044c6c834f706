"""A Pod as typed code wants it: every field that the benchmark's pods have, as msgspec Structs.

Times and quantities stay text, as they are on the wire; managedFields stay bytes.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

__all__ = ["Pod", "PodMeta"]


class _Model(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Lists are tuples, so that nothing in it can be part of a cycle."""


class OwnerReference(_Model, frozen=True):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class PodMeta(_Model, frozen=True):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: Raw = Raw()


class KeyRef(_Model, frozen=True):
    key: str = ""
    name: str = ""
    optional: bool | None = None


class FieldRef(_Model, frozen=True):
    field_path: str
    api_version: str = ""


class EnvVarSource(_Model, frozen=True):
    field_ref: FieldRef | None = None
    secret_key_ref: KeyRef | None = None
    config_map_key_ref: KeyRef | None = None


class EnvVar(_Model, frozen=True):
    name: str
    value: str = ""
    value_from: EnvVarSource | None = None


class ContainerPort(_Model, frozen=True):
    container_port: int
    name: str = ""
    host_port: int = 0
    protocol: str = ""


class Resources(_Model, frozen=True):
    limits: dict[str, str] = {}
    requests: dict[str, str] = {}


class VolumeMount(_Model, frozen=True):
    name: str
    mount_path: str
    read_only: bool = False
    sub_path: str = ""


class ExecAction(_Model, frozen=True):
    command: tuple[str, ...] = ()


class HTTPGetAction(_Model, frozen=True):
    port: int | str
    path: str = ""
    host: str = ""
    scheme: str = ""


class Probe(_Model, frozen=True):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int = 0
    timeout_seconds: int = 0
    period_seconds: int = 0
    success_threshold: int = 0
    failure_threshold: int = 0


class LifecycleHandler(_Model, frozen=True):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None


class Lifecycle(_Model, frozen=True):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None


class Capabilities(_Model, frozen=True):
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class SecurityContext(_Model, frozen=True):
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    read_only_root_filesystem: bool | None = None
    allow_privilege_escalation: bool | None = None
    fs_group: int | None = None


class Container(_Model, frozen=True):
    name: str
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: tuple[ContainerPort, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: Resources | None = None
    volume_mounts: tuple[VolumeMount, ...] = ()
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str = ""
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    security_context: SecurityContext | None = None


class KeyToPath(_Model, frozen=True):
    key: str
    path: str


class ConfigMapSource(_Model, frozen=True):
    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    default_mode: int | None = None


class SecretSource(_Model, frozen=True):
    secret_name: str = ""
    default_mode: int | None = None


class EmptyDirSource(_Model, frozen=True):
    medium: str = ""
    size_limit: str | None = None


class HostPathSource(_Model, frozen=True):
    path: str
    type: str | None = None


class ClaimSource(_Model, frozen=True):
    claim_name: str
    read_only: bool = False


class TokenProjection(_Model, frozen=True):
    path: str
    expiration_seconds: int | None = None


class DownwardFile(_Model, frozen=True):
    path: str
    field_ref: FieldRef | None = None


class DownwardProjection(_Model, frozen=True):
    items: tuple[DownwardFile, ...] = ()


class Projection(_Model, frozen=True):
    service_account_token: TokenProjection | None = None
    config_map: ConfigMapSource | None = None
    downward_api: DownwardProjection | None = msgspec.field(default=None, name="downwardAPI")


class ProjectedSource(_Model, frozen=True):
    sources: tuple[Projection, ...] = ()
    default_mode: int | None = None


class Volume(_Model, frozen=True):
    name: str
    config_map: ConfigMapSource | None = None
    secret: SecretSource | None = None
    empty_dir: EmptyDirSource | None = None
    host_path: HostPathSource | None = None
    persistent_volume_claim: ClaimSource | None = None
    projected: ProjectedSource | None = None


class Toleration(_Model, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class LabelSelector(_Model, frozen=True):
    match_labels: dict[str, str] = {}


class Requirement(_Model, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeTerm(_Model, frozen=True):
    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(_Model, frozen=True):
    node_selector_terms: tuple[NodeTerm, ...] = ()


class NodeAffinity(_Model, frozen=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class PodTerm(_Model, frozen=True):
    topology_key: str
    label_selector: LabelSelector | None = None


class WeightedPodTerm(_Model, frozen=True):
    weight: int
    pod_affinity_term: PodTerm


class PodAffinity(_Model, frozen=True):
    required_during_scheduling_ignored_during_execution: tuple[PodTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodTerm, ...] = ()


class Affinity(_Model, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class SpreadConstraint(_Model, frozen=True):
    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    label_selector: LabelSelector | None = None


class LocalReference(_Model, frozen=True):
    name: str = ""


class PodSpec(_Model, frozen=True):
    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None
    dns_policy: str = ""
    node_selector: dict[str, str] = {}
    service_account_name: str = ""
    service_account: str = ""
    automount_service_account_token: bool | None = None
    node_name: str = ""
    host_network: bool = False
    host_pid: bool = msgspec.field(default=False, name="hostPID")
    security_context: SecurityContext | None = None
    image_pull_secrets: tuple[LocalReference, ...] = ()
    hostname: str = ""
    subdomain: str = ""
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    priority_class_name: str = ""
    priority: int | None = None
    runtime_class_name: str | None = None
    enable_service_links: bool | None = None
    preemption_policy: str | None = None
    topology_spread_constraints: tuple[SpreadConstraint, ...] = ()


class Condition(_Model, frozen=True):
    type: str
    status: str
    observed_generation: int = 0
    last_probe_time: str | None = None
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class IP(_Model, frozen=True):
    ip: str = ""


class Waiting(_Model, frozen=True):
    reason: str = ""
    message: str = ""


class Running(_Model, frozen=True):
    started_at: str = ""


class Terminated(_Model, frozen=True):
    exit_code: int
    signal: int = 0
    reason: str = ""
    message: str = ""
    started_at: str = ""
    finished_at: str = ""
    container_id: str = msgspec.field(default="", name="containerID")


class ContainerState(_Model, frozen=True):
    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(_Model, frozen=True):
    name: str
    ready: bool
    restart_count: int
    image: str
    image_id: str = msgspec.field(name="imageID")
    state: ContainerState | None = None
    last_state: ContainerState | None = None
    container_id: str = msgspec.field(default="", name="containerID")
    started: bool | None = None


class PodStatus(_Model, frozen=True):
    observed_generation: int = 0
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")
    host_ips: tuple[IP, ...] = msgspec.field(default=(), name="hostIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[IP, ...] = msgspec.field(default=(), name="podIPs")
    start_time: str | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""


class Pod(_Model, frozen=True):
    """The whole of it."""

    metadata: PodMeta
    kind: str = ""
    api_version: str = ""
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
