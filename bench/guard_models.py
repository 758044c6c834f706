"""A pod as a program would declare it, with what most programs read of one."""

from __future__ import annotations

from msgspec import Struct, field

__all__ = ["Pod"]


class _Metadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Variable(Struct, frozen=True, gc=False):
    name: str
    value: str = ""


class _Port(Struct, frozen=True, gc=False, rename="camel"):
    container_port: int
    name: str = ""
    protocol: str = ""


class _Container(Struct, frozen=True, gc=False):
    name: str
    image: str = ""
    args: tuple[str, ...] = ()
    ports: tuple[_Port, ...] = ()
    env: tuple[_Variable, ...] = ()


class _Spec(Struct, frozen=True, gc=False, rename="camel"):
    containers: tuple[_Container, ...] = ()
    node_name: str = ""
    service_account_name: str = ""


class _Condition(Struct, frozen=True, gc=False, rename="camel"):
    type: str
    status: str
    last_transition_time: str | None = None


class _Status(Struct, frozen=True, gc=False, rename="camel"):
    phase: str = ""
    conditions: tuple[_Condition, ...] = ()
    pod_ip: str = field(default="", name="podIP")


class Pod(Struct, frozen=True, gc=False, rename="camel"):
    kind: str = ""
    api_version: str = ""
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()
