"""TLS certificates of clusters: creation and peer verification."""

import datetime
import shutil
import socket
import ssl
import stat

import pytest


pytest.importorskip("distributed", reason="clusters need dask.distributed: the extra rpc")
pytest.importorskip("cryptography", reason="certificates are made with cryptography: the extra rpc")
from cryptography import x509

from tests.distributed import clusters
from ts.distributed import LocalCluster, rpc
from ts.distributed.cluster import certificates
from ts.distributed.transport import Security

FILES = {"ca.pem", "ca-key.pem", "cert.pem", "key.pem"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tls") / "certificates"
    certificates.make(path, ["10.0.0.1", "head.example"])
    return path


@pytest.fixture(scope="module")
def cluster(folder):
    with LocalCluster(workers=1, allow_python=True, tls_dir=folder) as made:
        yield made


def certificate(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_created_certificates(folder):
    """Certificates are readable only by the user, valid for the host names and one year, and not created
    twice."""
    assert {path.name for path in folder.iterdir()} == FILES
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    made, authority = certificate(folder / "cert.pem"), certificate(folder / "ca.pem")
    made.verify_directly_issued_by(authority)
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "head.example", socket.gethostname()} <= set(names.get_values_for_type(x509.DNSName))
    assert {"127.0.0.1", "10.0.0.1"} <= {str(ip) for ip in names.get_values_for_type(x509.IPAddress)}
    for each in (made, authority):
        validity = each.not_valid_after_utc - each.not_valid_before_utc
        assert datetime.timedelta(365) <= validity <= datetime.timedelta(366)
    assert not made.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    certificates.make(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_missing_certificate_is_created(folder, tmp_path):
    """A missing certificate is created by the existing authority if its key exists."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "cert.pem").unlink()
    certificates.make(copy)
    assert (copy / "ca.pem").read_bytes() == (folder / "ca.pem").read_bytes()
    certificate(copy / "cert.pem").verify_directly_issued_by(certificate(folder / "ca.pem"))
    (copy / "cert.pem").unlink()
    (copy / "ca-key.pem").unlink()
    with pytest.raises(FileNotFoundError, match=r"ca-key\.pem is missing"):
        certificates.make(copy)
    with pytest.raises(FileNotFoundError, match=r"cert\.pem is missing"):
        certificates.security(copy)


def test_processes_with_certificates(cluster, folder):
    """Connections between all processes are encrypted; a process joins with a folder of certificates."""
    assert cluster.address.startswith("ts+tls://127.0.0.1:")
    with clusters.joined(cluster.address, security=certificates.security(folder)):
        assert clusters.sum_of_squares_or_none("worker0") == 14.0
        assert rpc.rpc_sync("worker0", clusters.ask, args=("me",)) == rpc.get_worker_info().id
        assert {m["address"].partition(":")[0] for m in cluster.members()} == {"ts+tls"}
        words = ["--name", "more", "--tls-dir", str(folder)]
        with clusters.command("worker", cluster.address, *words, stderr=None):
            assert clusters.wait_until(lambda: clusters.sum_of_squares_or_none("more")) == 14.0
    with clusters.command("cluster", "--status", cluster.address, "--tls-dir", str(folder)) as process:
        out, err = process.communicate(timeout=clusters.TIMEOUT_SECONDS)
    assert (process.returncode, err) == (0, "") and "worker0" in out


def test_certificates_of_another_authority(cluster, tmp_path):
    """Processes with certificates of another authority can neither join a cluster nor accept its members."""
    certificates.make(tmp_path / "other")
    other = certificates.security(tmp_path / "other")
    with pytest.raises(RuntimeError, match=r"cannot join the cluster .*(?i:certificate|ssl)"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options(cluster.address, security=other))
    with clusters.command("worker", cluster.address, "--tls-dir", str(tmp_path / "other")) as process:
        _, err = process.communicate(timeout=clusters.TIMEOUT_SECONDS)
    assert process.returncode == 1 and "cannot join the cluster" in err
    assert [m["name"] for m in cluster.members()] == ["worker0"]


def test_peers_without_certificates(cluster, folder):
    """The scheduler and every worker reject peers without a certificate."""
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    for address in (cluster.address, cluster.members()[0]["address"]):
        port = int(address.rpartition(":")[2])
        with pytest.raises((ssl.SSLError, ConnectionError)):
            with socket.create_connection(("127.0.0.1", port), 20) as sock:
                with context.wrap_socket(sock, server_hostname="localhost") as client:
                    if not client.recv(1):
                        raise ConnectionError("it hung up")


def test_mismatched_addresses_and_certificates(cluster, folder):
    plain = cluster.address.replace("ts+tls", "ts")
    with pytest.raises(RuntimeError, match=r"does not match security=, which is for ts\+tls://"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options(plain, security=certificates.security(folder)))
    with pytest.raises(RuntimeError, match="does not match security=, which is for ts://"):
        secret = Security(secret=b"x" * 32)
        rpc.init_rpc("me", rpc_backend_options=clusters.options(cluster.address, security=secret))
    with pytest.raises(RuntimeError, match="needs certificates"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options(cluster.address))
    with pytest.raises(RuntimeError, match="cannot join the cluster"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options(plain, secret=b"x" * 32))
