"""Profiles of AppArmor that only annotations of a new pod tell, which is out of date."""

from __future__ import annotations

from typing import Any

__all__ = ["copy_profiles"]

_PREFIX = "container.apparmor.security.beta.kubernetes.io/"


def copy_profiles(pod: dict[str, Any]) -> list[str]:
    """Give them to the containers of `pod`, where they are not those of the whole pod. Returns the
    warnings about that, and about those that are none.
    """
    annotations = pod["metadata"].get("annotations") or {}
    if not any(key.startswith(_PREFIX) for key in annotations):
        return []
    spec = pod["spec"]
    if (spec.get("os") or {}).get("name") == "windows":
        return []
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    warnings: list[str] = []
    changed = {
        kind: [_with_profile(found, annotations, of_pod, warnings) for found in spec[kind]]
        for kind in ("initContainers", "containers", "ephemeralContainers")
        if spec.get(kind)
    }
    pod["spec"] = {**spec, **changed}
    return warnings


def _with_profile(
    container: dict[str, Any], annotations: dict[str, str], of_pod: Any, warnings: list[str]
) -> dict[str, Any]:
    # Few need this: the checks of pods are not loaded for it before.
    from ..validation.pod.profiles import annotated_profile, app_armor_problems

    key = _PREFIX + (container.get("name") or "")
    context = container.get("securityContext") or {}
    if key not in annotations or context.get("appArmorProfile") is not None:
        return container
    profile = annotated_profile(annotations[key])
    if any(app_armor_problems(profile, "")):
        profile = None
    if profile is not None and profile == of_pod:
        return container
    warnings.append(
        f'metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field '
        "instead"
    )
    if profile is None:
        return container
    return {**container, "securityContext": {**context, "appArmorProfile": profile}}
