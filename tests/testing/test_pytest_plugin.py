"""The fixtures that other people's tests get, in a pytest of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwatch.testing.server_thread import ServerThread

pytest_plugins = ["pytester"]

ARGUMENTS = ("-p", "no:cacheprovider", "-p", "no:randomly")


def run(pytester: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    """Run these tests in a process of its own, as in a project of their own."""
    pytester.makepyfile(text)
    pytester.makeini(
        "[pytest]\nfilterwarnings = error\nasyncio_mode = auto\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    return pytester.runpytest_subprocess(*ARGUMENTS, *arguments)


def test_each_test_has_a_clean_namespace(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        seen = []

        def test_one(kube_client, kube_namespace):
            assert kube_client.config.namespace == kube_namespace
            made = kube_client.create({"metadata": {"name": "a"}}, resource="configmaps")
            assert made.namespace == kube_namespace
            seen.append(kube_namespace)

        def test_another(kube_client, kube_namespace):
            assert kube_namespace not in seen
            assert not list(kube_client.list("configmaps", namespace=kube_namespace))
            names = [each.name for each in kube_client.list("namespaces")]
            assert seen[0] not in names
        """,
    )
    ran.assert_outcomes(passed=2)


def test_a_test_with_a_loop_has_the_same_server(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        from listwatch import Client

        async def test_it(kube_config, kube_client):
            kube_client_thread = kube_client  # the blocking one is for other threads here
            async with Client(config=kube_config) as client:
                await client.create({"metadata": {"name": "a"}}, resource="configmaps")
                async with client.informer("configmaps") as informer:
                    await informer.synced(timeout=10)
                    assert f"{kube_config.namespace}/a" in informer.store.keys()
        """,
    )
    ran.assert_outcomes(passed=1)


def test_other_clients_get_a_kubeconfig(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        import kubernetes

        def test_it(kubeconfig, kube_namespace):
            assert kubeconfig.stat().st_mode & 0o777 == 0o600
            kubernetes.config.load_kube_config(str(kubeconfig))
            api = kubernetes.client.CoreV1Api()
            api.create_namespaced_config_map(kube_namespace, {"metadata": {"name": "a"}})
            assert api.read_namespaced_config_map("a", kube_namespace).metadata.name == "a"
            api.api_client.close()
        """,
        "-W",
        "default",
    )
    ran.assert_outcomes(passed=1)


def test_a_fault_lasts_for_its_test(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        import pytest
        from listwatch import ServiceUnavailable

        def test_with(kube_client, kube_fault):
            kube_fault("list configmaps: answer 503")
            with pytest.raises(ServiceUnavailable):
                kube_client.list("configmaps")

        def test_without(kube_client):
            kube_client.list("configmaps")
        """,
    )
    ran.assert_outcomes(passed=2)


def test_a_server_of_its_own_can_be_done_anything_to(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        from listwatch.sync import Client

        def test_it(fresh_kube_apiserver, kube_apiserver):
            assert fresh_kube_apiserver.url != kube_apiserver.url
            with Client(config=fresh_kube_apiserver.config) as client:
                client.create({"metadata": {"name": "a"}}, resource="namespaces")
            fresh_kube_apiserver.call(lambda server: server.restart("lost"))
            with Client(config=fresh_kube_apiserver.config) as client:
                names = [each.name for each in client.list("namespaces")]
                assert "a" not in names
        """,
    )
    ran.assert_outcomes(passed=1)


def test_each_worker_of_xdist_has_its_own(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        import pytest

        @pytest.mark.parametrize("number", range(6))
        def test_it(kube_client, kube_namespace, number):
            kube_client.create({"metadata": {"name": "a"}}, resource="configmaps")
            assert len(kube_client.list("configmaps")) == 1
        """,
        "-n",
        "2",
    )
    ran.assert_outcomes(passed=6)


def test_a_context_of_a_kubeconfig_takes_the_place_of_the_embedded_server(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    with ServerThread() as running:
        file = running.server.kubeconfig(tmp_path / "config")
        ran = run(
            pytester,
            f"""
            def test_it(kube_client, kube_apiserver, kube_namespace, kubeconfig):
                assert kube_apiserver.url == {running.server.url!r}
                assert f"namespace: {{kube_namespace}}" in kubeconfig.read_text()
                kube_client.create({{"metadata": {{"name": "a"}}}}, resource="configmaps")

            def test_faults(kube_fault):
                pass
            """,
            "--kube-context",
            "listwatch",
            "--kube-config",
            str(file),
        )
    ran.assert_outcomes(passed=1, skipped=1)


def test_a_kubeconfig_alone_is_no_choice_of_a_cluster(pytester: pytest.Pytester) -> None:
    ran = run(pytester, "def test_it(): pass", "--kube-config", "somewhere")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["*--kube-config needs --kube-context*"])


def test_an_unknown_context_is_told_once_for_the_run(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    with ServerThread() as running:
        file = running.server.kubeconfig(tmp_path / "config")
    ran = run(
        pytester,
        """
        def test_one(kube_client):
            pass

        def test_another(kube_client):
            pass
        """,
        *("--kube-context", "none", "--kube-config", str(file)),
    )
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    told = [line for line in ran.stderr.lines if "none" in line]
    assert len(told) == 1
    assert "listwatch" in told[0]  # the contexts that there are


LIVES = """
import time

def test_it(kube_client, kube_namespace):
    spec = {"containers": [{"name": "c", "image": "i"}]}
    kube_client.create({"metadata": {"name": "a"}, "spec": spec}, resource="pods")
    for _ in range(1000):
        pod = kube_client.get("pods", "a", namespace=kube_namespace)
        if pod["status"]["phase"] == "Running":
            return
        time.sleep(0.01)
    raise AssertionError(pod["status"])
"""


def test_controllers_are_switched_on_by_an_option(pytester: pytest.Pytester) -> None:
    run(pytester, LIVES, "--kube-controllers", "kubelet,deployment").assert_outcomes(passed=1)


def test_controllers_are_switched_on_by_the_ini_file(pytester: pytest.Pytester) -> None:
    run(pytester, LIVES, "-o", "kube_controllers=all").assert_outcomes(passed=1)


def test_controllers_are_switched_on_by_a_fixture_of_the_project(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def kube_controllers():
            return ["kubelet"]
        """
    )
    run(pytester, LIVES).assert_outcomes(passed=1)


def test_a_server_of_its_own_may_have_other_controllers(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        from listwatch.sync import Client

        def test_it(fresh_kube_apiserver):
            fresh_kube_apiserver.run_controllers("serviceaccount")
            with Client(config=fresh_kube_apiserver.config) as client:
                client.create({"metadata": {"name": "x"}}, resource="namespaces")
                while not list(client.list("serviceaccounts", namespace="x")):
                    pass
        """,
    )
    ran.assert_outcomes(passed=1)


def test_the_roles_of_a_real_server_are_there_by_the_ini_file(pytester: pytest.Pytester) -> None:
    reads = """
        def test_it(kube_client, fresh_kube_apiserver):
            from listwatch.sync import Client

            assert kube_client.get("clusterroles", "view")["rules"]
            with Client(config=fresh_kube_apiserver.config) as client:
                assert client.get("clusterroles", "view")["rules"]
    """
    run(pytester, reads, "-o", "kube_bootstrap=true").assert_outcomes(passed=1)
    run(pytester, reads).assert_outcomes(failed=1)


def test_an_unknown_controller_is_told_once_for_the_run(pytester: pytest.Pytester) -> None:
    ran = run(pytester, LIVES, "--kube-controllers", "nosuch")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["*there is no controller 'nosuch'*"])


def test_nothing_is_imported_for_those_who_use_nothing(pytester: pytest.Pytester) -> None:
    ran = run(
        pytester,
        """
        import sys

        def test_it():
            assert "listwatch.testing.pytest_plugin" in sys.modules
            assert not {"listwatch.rest", "aiohttp", "yaml"} & set(sys.modules)
        """,
    )
    ran.assert_outcomes(passed=1)


def test_pytest_does_not_rewrite_our_modules(pytester: pytest.Pytester) -> None:
    """As modules of a plugin's package they would each be compiled anew, which takes seconds."""
    ran = run(
        pytester,
        """
        import sys

        def test_it(kube_apiserver):
            loader = sys.modules["listwatch.testing.server_thread"].__loader__
            assert type(loader).__name__ == "SourceFileLoader"
        """,
    )
    ran.assert_outcomes(passed=1)
