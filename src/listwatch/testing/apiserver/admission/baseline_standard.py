"""What no pod of the standard `baseline` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .amounts import Value
from .judged_pods import (
    LATEST,
    PROFILES,
    Finding,
    JudgedPod,
    added_capabilities,
    any_proc_mount,
    setters,
    wrong_seccomp,
)
from .pod_hosts import hosts_of, ports_of
from .standard_texts import containers_text, joined, many

__all__ = ["BASELINE"]

_CAPABILITIES = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
_SYSCTLS = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}
"""Those that are safe, and the minor version since which they are taken for it."""
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"


def _app_armor(pod: JudgedPod) -> Iterator[Finding]:
    values: set[str] = set()

    def is_bad(context: Value) -> bool:
        profile = context.get("appArmorProfile")
        kind = (profile or {}).get("type") or ""
        if profile is None or kind in PROFILES:
            return False
        values.add(kind)
        return True

    said = [text for text in (setters(pod, is_bad),) if text]
    annotations = sorted(
        f'{name}="{value}"'
        for name, value in (pod.metadata.get("annotations") or {}).items()
        if name.startswith(_APP_ARMOR)
        and not (value in ("", "runtime/default") or value.startswith("localhost/"))
    )
    shown = [*sorted(values), *annotations]
    if annotations:
        said.append(many("annotation", len(annotations)))
    if said:
        detail = f"{' and '.join(said)} must not set AppArmor profile type to {joined(shown)}"
        yield Finding(many("forbidden AppArmor profile", len(shown)), detail)


def _capabilities(pod: JudgedPod) -> Iterator[Finding]:
    added = added_capabilities(pod, _CAPABILITIES)
    if added:
        yield Finding("non-default capabilities", added)


def _host_namespaces(pod: JudgedPod) -> Iterator[Finding]:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(name)]
    if found:
        yield Finding("host namespaces", ", ".join(found))


def _host_paths(pod: JudgedPod) -> Iterator[Finding]:
    volumes = pod.spec.get("volumes") or ()
    names = [each.get("name") or "" for each in volumes if each.get("hostPath") is not None]
    if names:
        yield Finding("hostPath volumes", f"{many('volume', len(names))} {joined(names)}")


def _host_ports(pod: JudgedPod) -> Iterator[Finding]:
    found = [(name, ports_of(container)) for name, container, _ in pod.containers()]
    names = [name for name, ports in found if ports]
    if names:
        ports = sorted({port for _, ports in found for port in ports})
        uses = "uses" if len(names) == 1 else "use"
        shown = f"{many('hostPort', len(ports))} {', '.join(ports)}"
        yield Finding("hostPort", f"{containers_text(names)} {uses} {shown}")


def _probe_hosts(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor < 34:
        return
    found = [(name, hosts_of(container)) for name, container, _ in pod.containers()]
    names = sorted({name for name, hosts in found if hosts})
    if names:
        hosts = sorted({host for _, hosts in found for host in hosts})
        uses = "uses" if len(names) == 1 else "use"
        shown = f"{many('probe or lifecycle host', len(hosts))} {joined(hosts)}"
        yield Finding("probe or lifecycle host", f"{containers_text(names)} {uses} {shown}")


def _privileged(pod: JudgedPod) -> Iterator[Finding]:
    names = pod.those(lambda context: context.get("privileged"))
    if names:
        text = f"{containers_text(names)} must not set securityContext.privileged=true"
        yield Finding("privileged", text)


def _proc_mount(pod: JudgedPod) -> Iterator[Finding]:
    if not pod.has_own_users:
        yield from any_proc_mount(pod)


def _se_linux(pod: JudgedPod) -> Iterator[Finding]:
    allowed = {"", "container_t", "container_init_t", "container_kvm_t"}
    if pod.minor >= 31:
        allowed.add("container_engine_t")
    types: set[str] = set()
    members: set[str] = set()

    def is_bad(context: Value) -> bool:
        options = context.get("seLinuxOptions") or {}
        wrong = {options.get("type") or ""} - allowed
        given = {name for name in ("user", "role") if options.get(name)}
        types.update(wrong)
        members.update(given)
        return bool(wrong or given)

    who = setters(pod, is_bad)
    if who:
        said = [f"{many('type', len(types))} {joined(sorted(types))}"] if types else []
        said += [f"{name} may not be set" for name in ("user", "role") if name in members]
        text = f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(said)}"
        yield Finding("seLinuxOptions", text)


def _seccomp(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor >= 19:
        yield from wrong_seccomp(pod)


def _sysctls(pod: JudgedPod) -> Iterator[Finding]:
    names = [each.get("name") or "" for each in pod.context.get("sysctls") or ()]
    wrong = [name for name in names if _SYSCTLS.get(name, LATEST + 1) > pod.minor]
    if wrong:
        yield Finding("forbidden sysctls", ", ".join(wrong))


def _host_process(pod: JudgedPod) -> Iterator[Finding]:
    who = setters(pod, lambda context: (context.get("windowsOptions") or {}).get("hostProcess"))
    if who:
        text = f"{who} must not set securityContext.windowsOptions.hostProcess=true"
        yield Finding("hostProcess", text)


BASELINE: Mapping[str, Callable[[JudgedPod], Iterator[Finding]]] = {
    "appArmorProfile": _app_armor,
    "capabilities_baseline": _capabilities,
    "hostNamespaces": _host_namespaces,
    "hostPathVolumes": _host_paths,
    "hostPorts": _host_ports,
    "hostProbesAndHostLifecycle": _probe_hosts,
    "privileged": _privileged,
    "procMount": _proc_mount,
    "seLinuxOptions": _se_linux,
    "seccompProfile_baseline": _seccomp,
    "sysctls": _sysctls,
    "windowsHostProcess": _host_process,
}
"""The checks by their names, which order them."""
