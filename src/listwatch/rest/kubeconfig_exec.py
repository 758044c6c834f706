"""The `exec` of a user in a kubeconfig (N2)."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from weakref import WeakValueDictionary

from .exec.credential import ClusterInfo, ExecVersion, exec_info
from .exec.plugin import ExecCredentials, ExecPlugin, InteractiveMode
from .kubeconfig_file import Section

__all__ = ["exec_credentials", "exec_plugin"]

_VERSIONS = " or ".join(ExecVersion)
_MODES = ", ".join(InteractiveMode)

_guard = threading.RLock()
_in_use: WeakValueDictionary[tuple[str, ExecPlugin], ExecCredentials] = WeakValueDictionary()


def exec_credentials(user: Section, *, cluster: ClusterInfo) -> ExecCredentials:
    """The credentials that the plugin in the field `exec` of `user` gives. It is not run yet.

    While somebody has them, whoever asks for the same again gets them, too: several clients of one
    user run the plugin once, and a person is asked once, as with client-go.

    Raises `ConfigError`, which names file, user and field.
    """
    plugin = exec_plugin(user, cluster=cluster)
    told = exec_info(plugin.version, interactive=False, cluster=plugin.cluster)
    same = (told, replace(plugin, cluster=None))
    with _guard:
        made = _in_use.get(same)
        if made is None:
            made = _in_use[same] = ExecCredentials(plugin)
        return made


def exec_plugin(user: Section, *, cluster: ClusterInfo) -> ExecPlugin:
    """What the field `exec` of `user` says. Raises `ConfigError`."""
    section = user.section("exec")
    if section is None:
        raise user.error("exec", "is missing")
    version = _version(section)
    return ExecPlugin(
        user=f"{user.where} in {user.file}",
        command=_command(section),
        args=_args(section),
        env=_env(section),
        version=version,
        interactive_mode=_interactive_mode(section, version),
        cluster=cluster if section.flag("provideClusterInfo") else None,
        install_hint=section.text("installHint"),
    )


def _version(section: Section) -> ExecVersion:
    text = section.text("apiVersion")
    if not text:
        raise section.error("apiVersion", f"is missing: it should be {_VERSIONS}")
    try:
        return ExecVersion(text)
    except ValueError:
        pass  # two messages for it, neither of them with this one behind it
    if text == "client.authentication.k8s.io/v1alpha1":
        raise section.error(
            "apiVersion",
            f"is {text}, which Kubernetes dropped in version 1.24. Update the plugin, and write the"
            " kubeconfig anew with the tool that made it (for EKS `aws eks update-kubeconfig`)",
        )
    raise section.error("apiVersion", f"is {text!r}: it should be {_VERSIONS}")


def _command(section: Section) -> str:
    """As in kubectl a relative path starts from the kubeconfig's own folder, and a bare name is one
    for PATH.
    """
    command = section.text("command")
    if not command:
        raise section.error("command", "is missing: it should be the program to run")
    _refuse_nul(section, "command", command)
    if os.path.dirname(command):
        return os.path.normpath(section.file.parent / command)
    return command


def _args(section: Section) -> tuple[str, ...]:
    args = section.texts("args")
    for number, arg in enumerate(args):
        _refuse_nul(section, f"args[{number}]", arg)
    return args


def _env(section: Section) -> tuple[tuple[str, str], ...]:
    env = []
    for entry in section.sections("env"):
        name, value = entry.text("name"), entry.text("value")
        if not name:
            raise entry.error("name", "is missing: it should be the name of a variable")
        if "=" in name:
            raise entry.error("name", "has an = in it, which the name of a variable cannot")
        _refuse_nul(entry, "name", name)
        _refuse_nul(entry, "value", value)
        env.append((name, value))
    return tuple(env)


def _interactive_mode(section: Section, version: ExecVersion) -> InteractiveMode:
    text = section.text("interactiveMode")
    if not text and version is ExecVersion.V1BETA1:
        return InteractiveMode.IF_AVAILABLE
    if not text:
        raise section.error(
            "interactiveMode",
            f"is missing, and {version} asks for it: it should be one of {_MODES}",
        )
    if text not in set(InteractiveMode):
        raise section.error("interactiveMode", f"is {text!r}: it should be one of {_MODES}")
    return InteractiveMode(text)


def _refuse_nul(section: Section, name: str, text: str) -> None:
    if "\0" in text:
        raise section.error(name, "has a zero byte in it, which cannot be passed to a program")
