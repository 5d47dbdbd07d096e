import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kauditor.sources.live.kubeconfig import (
    BadKubeconfig,
    Chosen,
    Kubeconfig,
    Overrides,
    choose,
    load,
    without_login,
)


def put(folder: Path, name: str, **parts: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **parts}))
    return path


def config(
    server: str = "https://one.example", user: dict[str, Any] | None = None, name: str = "one"
) -> dict[str, Any]:
    return {
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": {"token": f"{name}-token"} if user is None else user}],
    }


def several(*paths: Path | str) -> dict[str, str]:
    return {"KUBECONFIG": os.pathsep.join(str(path) for path in paths)}


def test_the_first_file_with_a_current_context_wins(tmp_path: Path) -> None:
    first = put(tmp_path, "a", clusters=[])
    second = put(tmp_path, "b", **config(name="one"))
    third = put(tmp_path, "c", **config(name="two"))
    merged = load(environ=several(first, second, third))
    assert merged.current_context == "one"
    assert set(merged.contexts) == {"one", "two"}


def test_the_first_of_a_name_wins_whole(tmp_path: Path) -> None:
    first = put(tmp_path, "a", **config("https://first.example"))
    second = put(tmp_path, "b", **config("https://second.example", {"username": "x"}))
    merged = load(environ=several(first, second))
    assert merged.clusters["one"].server == "https://first.example"
    assert merged.users["one"].kinds == ("token",)


def test_relative_paths_are_relative_to_their_own_file(tmp_path: Path) -> None:
    one = put(tmp_path / "x", "a", users=[{"name": "u", "user": {"client-key": "k.pem"}}])
    two = put(
        tmp_path / "y",
        "b",
        clusters=[{"name": "c", "cluster": {"certificate-authority": "../ca.pem"}}],
        users=[
            {"name": "v", "user": {"tokenFile": "t", "exec": {"command": "./login"}}},
            {"name": "w", "user": {"exec": {"command": "login"}}},
        ],
    )
    merged = load(environ=several(one, two))
    assert merged.users["u"].client_key == str(tmp_path / "x" / "k.pem")
    assert merged.clusters["c"].certificate_authority == str(tmp_path / "ca.pem")
    assert merged.users["v"].token_file == str(tmp_path / "y" / "t")
    plugin = merged.users["v"].exec
    assert plugin is not None
    assert os.path.normpath(plugin["command"]) == str(tmp_path / "y" / "login")
    # Without a slash it is looked for on the PATH.
    assert merged.users["w"].exec == {"command": "login"}


def test_empty_and_missing_segments_are_skipped(tmp_path: Path) -> None:
    there = put(tmp_path, "there", **config())
    merged = load(environ=several("", tmp_path / "missing", there, ""))
    assert merged.files == (str(there),)


def test_the_flag_is_the_only_file(tmp_path: Path) -> None:
    flag = put(tmp_path, "flag", **config(name="flag"))
    other = put(tmp_path, "other", **config(name="other"))
    merged = load(str(flag), environ=several(other))
    assert set(merged.contexts) == {"flag"}


def test_a_missing_file_of_the_flag_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadKubeconfig, match="no such file"):
        load(str(tmp_path / "missing"), environ={})


def test_the_home_folder_is_the_default(tmp_path: Path) -> None:
    put(tmp_path / ".kube", "config", **config(name="home"))
    assert load(environ={}, home=tmp_path).current_context == "home"


def test_nothing_at_all_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(BadKubeconfig, match="give --kubeconfig FILE, or --server URL"):
        choose(load(environ={}, home=tmp_path), environ={}, service_account=tmp_path)


def test_only_missing_files_says_which(tmp_path: Path) -> None:
    environ = several(tmp_path / "missing")
    with pytest.raises(BadKubeconfig, match="none of these files exists"):
        choose(load(environ=environ), environ=environ, service_account=tmp_path)


def in_a_pod(folder: Path, host: str = "10.0.0.1") -> dict[str, str]:
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_text("certificate")
    (folder / "namespace").write_text("audit")
    return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443"}


def test_in_a_pod_without_a_kubeconfig_its_service_account_is_used(tmp_path: Path) -> None:
    environ = in_a_pod(tmp_path)
    found = choose(load(environ={}, home=tmp_path), environ=environ, service_account=tmp_path)
    assert found.in_cluster
    assert found.cluster.server == "https://10.0.0.1:443"
    assert found.cluster.certificate_authority == str(tmp_path / "ca.crt")
    assert found.user.token_file == str(tmp_path / "token")
    assert found.namespace == "audit"


def test_an_ipv6_service_address_is_bracketed(tmp_path: Path) -> None:
    environ = in_a_pod(tmp_path, "fd00::1")
    found = choose(Kubeconfig(), environ=environ, service_account=tmp_path)
    assert found.cluster.server == "https://[fd00::1]:443"


def test_a_kubeconfig_goes_before_the_service_account(tmp_path: Path) -> None:
    environ = in_a_pod(tmp_path)
    merged = load(str(put(tmp_path, "c", **config())), environ={})
    assert not choose(merged, environ=environ, service_account=tmp_path).in_cluster


def chosen(tmp_path: Path, overrides: Overrides | None = None, **parts: Any) -> Chosen:
    merged = load(str(put(tmp_path, "c", **(parts or config()))), environ={})
    return choose(merged, overrides, environ={})


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (Overrides(context="x"), "--context x: no such context in .*; it has one"),
        (Overrides(cluster="x"), "--cluster x: no such cluster"),
        (Overrides(user="x"), "--user x: no such user"),
        (Overrides(server="gopher://x"), "write https://HOST:PORT"),
        (Overrides(as_groups=("g",)), "give --as NAME"),
    ],
)
def test_a_flag_that_leads_nowhere_is_one_clear_sentence(
    tmp_path: Path, overrides: Overrides, sentence: str
) -> None:
    with pytest.raises(BadKubeconfig, match=sentence):
        chosen(tmp_path, overrides)


def test_a_server_alone_is_enough(tmp_path: Path) -> None:
    found = choose(Kubeconfig(), Overrides(server="one.example:6443"), environ={})
    assert found.cluster.server == "https://one.example:6443"
    assert found.user.kinds == ()


def test_a_new_server_drops_the_tls_name_of_the_old_one(tmp_path: Path) -> None:
    parts = config()
    parts["clusters"][0]["cluster"]["tls-server-name"] = "old"
    assert chosen(tmp_path, **parts).cluster.tls_server_name == "old"
    found = chosen(tmp_path, Overrides(server="https://new.example"), **parts)
    assert found.cluster.tls_server_name == ""


def test_a_trust_flag_replaces_all_trust_of_the_file(tmp_path: Path) -> None:
    parts = config()
    parts["clusters"][0]["cluster"].update(
        {"certificate-authority-data": "eA==", "insecure-skip-tls-verify": True}
    )
    authority = chosen(tmp_path, Overrides(certificate_authority="/ca"), **parts).cluster
    assert (authority.certificate_authority, authority.certificate_authority_data) == ("/ca", "")
    assert not authority.insecure_skip_tls_verify
    insecure = chosen(tmp_path, Overrides(insecure_skip_tls_verify=True), **parts).cluster
    assert insecure.insecure_skip_tls_verify and not insecure.certificate_authority_data


def test_a_token_flag_is_the_only_login_left(tmp_path: Path) -> None:
    user = {"client-certificate-data": "eA==", "client-key-data": "eA==", "exec": {"command": "x"}}
    found = chosen(tmp_path, Overrides(token="given"), **config(user=user))
    assert found.user.kinds == ("token",)
    assert found.user.token == "given"


def test_the_impersonation_flag_replaces_the_whole_impersonation(tmp_path: Path) -> None:
    user = {"as": "root", "as-groups": ["system:masters"], "as-uid": "1"}
    kept = chosen(tmp_path, **config(user=user)).user
    assert (kept.as_user, kept.as_groups, kept.as_uid) == ("root", ("system:masters",), "1")
    flagged = chosen(tmp_path, Overrides(as_user="bob"), **config(user=user)).user
    assert (flagged.as_user, flagged.as_groups, flagged.as_uid) == ("bob", (), "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: b: c", "line 1: is no YAML"),
        ("token: '*secret\nx: *hunter2", "is no YAML"),
        ("- a", "is no kubeconfig"),
        ("clusters: {}", "`clusters` must be a list"),
        ("users: [hunter2]", "entry 1 of `users` must be a mapping with a name"),
        ("users: [{name: a, user: [x]}]", "user 'a' must be a mapping"),
        ("users: [{name: a, user: {token: [hunter2]}}]", "`token` of user 'a' must be text"),
        ("users: [{name: a, user: {exec: run}}]", "`exec` of user 'a' must be a mapping"),
        ("users: [{name: a, user: {as-groups: x}}]", "`as-groups` of user 'a' must be a list"),
        (
            "clusters: [{name: a, cluster: {insecure-skip-tls-verify: 7}}]",
            "must be true or false",
        ),
    ],
)
def test_a_broken_file_is_one_sentence_without_its_secrets(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "broken"
    path.write_text(text)
    with pytest.raises(BadKubeconfig, match=re.escape(sentence)) as caught:
        load(str(path), environ={})
    assert "hunter2" not in str(caught.value)


def test_a_folder_instead_of_a_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadKubeconfig, match="can't be read"):
        load(str(tmp_path), environ={})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "c"
    path.write_bytes(yaml.safe_dump(config(name="ö"), allow_unicode=True).encode(encoding))
    assert load(str(path), environ={}).current_context == "ö"


def test_an_empty_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    there = put(tmp_path, "there", **config())
    assert load(environ=several(tmp_path / "empty", there)).current_context == "one"


def test_no_repr_shows_a_secret(tmp_path: Path) -> None:
    user = {
        "token": "hunter2",
        "password": "hunter2",
        "username": "x",
        "client-key-data": "hunter2",
    }
    merged = load(
        str(put(tmp_path, "c", **config("https://u:hunter2@x.example", user))), environ={}
    )
    found = choose(merged, Overrides(token="hunter2", server="https://u:hunter2@x"), environ={})
    for shown in (merged, found, found.user, Overrides(token="hunter2")):
        assert "hunter2" not in repr(shown)
        assert "hunter2" not in str(shown.__rich_repr__())
    assert without_login("https://u:p@x.example/y") == "https://x.example/y"


# What each sample of the shared folder must give: the context, or the start of the complaint.
REFUSED = {
    "csharp-no-cluster.yml": "'horse-cluster', which is not there",
    "csharp-no-context.yml": "current-context 'federal-context': no such context",
    "csharp-no-server.yml": "has no server",
    "csharp-preferences-extensions.yml": "no current-context is set",
    "csharp-user-not-found.yml": "user 'green-user', which is not there",
    "fabric8-merge-config-4.yaml": "no current-context is set",
    "fabric8-merge-config-empty.yaml": "no current-context is set",
    "fabric8-merge-just-current-context.yaml": "current-context 'context-in-config-3': no such",
    "js-kubeconfig-dupe-context.yaml": "current-context 'context2': no such context",
    "ruby-execauth.yaml": "no current-context is set",
    "ruby-gcpauth.yaml": "no current-context is set",
    "ruby-oidcauth.yaml": "no current-context is set",
    "rust-kubeconfig_utf8.yaml": "user 'admin@k3d-promstack', which is not there",
}
_KEYS = {
    "server": "server",
    "certificate-authority": "certificate_authority",
    "certificate-authority-data": "certificate_authority_data",
    "insecure-skip-tls-verify": "insecure_skip_tls_verify",
    "proxy-url": "proxy_url",
    "extensions": "extensions",
}


def readings(samples: Path) -> dict[str, str]:
    text = (samples / "kubeconfig" / "INDEX.md").read_text()
    return dict(re.findall(r"^## (\S+)$.*?^- Right reading: ([^\n]*)$", text, re.M | re.S))


def test_every_shared_sample_reads_as_its_index_says(samples: Path) -> None:
    index = readings(samples)
    assert len(index) == 36
    for name, reading in index.items():
        path = samples / "kubeconfig" / name
        merged = load(str(path), environ={})
        stated = re.search(r"contexts (\[.*?\]), current-context ('[^']*'|None)", reading)
        assert stated is not None
        assert list(merged.contexts) == yaml.safe_load(stated[1]), name
        current = "" if stated[2] == "None" else stated[2].strip("'")
        assert merged.current_context == current, name
        if name in REFUSED:
            with pytest.raises(BadKubeconfig, match=re.escape(REFUSED[name])):
                choose(merged, environ={})
            continue
        found = choose(merged, environ={})
        check_cluster(found, reading, path)
        check_user(found, reading)


def check_cluster(found: Chosen, reading: str, path: Path) -> None:
    stated = re.search(r"; cluster ([^;]*)", reading)
    assert stated is not None
    for pair in stated[1].split(", "):
        key, _, value = pair.partition("=")
        is_set: Any = getattr(found.cluster, _KEYS[key])
        if value == "…":
            assert is_set
        elif key == "certificate-authority":
            assert is_set == os.path.normpath(path.parent / value)
        else:
            assert str(is_set) == value
    namespace = re.search(r"; namespace (\S+)", reading)
    assert found.namespace == (namespace[1] if namespace else "")


def check_user(found: Chosen, reading: str) -> None:
    stated = re.search(r"user keys (\[.*?\])", reading)
    assert stated is not None
    user = found.user
    set_keys = {
        "token": user.token,
        "tokenFile": user.token_file,
        "username": user.username,
        "password": user.password,
        "client-certificate": user.client_certificate,
        "client-certificate-data": user.client_certificate_data,
        "client-key": user.client_key,
        "client-key-data": user.client_key_data,
        "exec": user.exec,
        "auth-provider": user.auth_provider,
        "as": user.as_user,
        "as-groups": user.as_groups,
        "as-user-extra": user.as_user_extra,
    }
    assert {key for key, value in set_keys.items() if value} == set(yaml.safe_load(stated[1]))
    plugin = re.search(r"exec command (\S+) api (\S+)", reading)
    if plugin is not None:
        assert user.exec is not None
        assert os.path.basename(user.exec["command"]) == os.path.basename(plugin[1])
        assert user.exec["apiVersion"] == plugin[2]


def test_the_samples_made_to_be_merged_merge_as_kubectl_does(samples: Path) -> None:
    folder = samples / "kubeconfig"
    numbered = [folder / f"fabric8-merge-config-{number}.yaml" for number in (1, 2, 3, 4)]
    merged = load(environ=several(folder / "fabric8-merge-config-empty.yaml", *numbered))
    found = choose(merged, environ={})
    assert found.cluster.server == "https://config-1.example.com"
    assert found.namespace == "config-1-namespace"
    assert (
        merged.clusters["duplicate-cluster"].server == "https://duplicate-cluster-in-1.example.com"
    )
    assert merged.clusters["incomplete-cluster"].server == ""
    first = load(environ=several(folder / "fabric8-merge-just-current-context.yaml", *numbered))
    assert (
        choose(first, environ={}).cluster.server == "https://config-3-special-cluster.example.com"
    )
