"""Mutual TLS (mTLS) of a cluster by a private certificate authority and one shared X.509 certificate.

The argument of both functions is a folder:

    make("certificates")                     creates the missing files in the folder `certificates`
    security("certificates")                 returns settings for mutual TLS with these files

The files are ca.pem, ca-key.pem, cert.pem and key.pem. A process that joins from another machine needs all
files except ca-key.pem. ca-key.pem is needed only to sign further certificates.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ts.distributed.transport import Security, TransportLimits

if TYPE_CHECKING:
    from cryptography import x509

AUTHORITY: Final = "ca.pem"
AUTHORITY_KEY: Final = "ca-key.pem"
CERTIFICATE: Final = "cert.pem"
KEY: Final = "key.pem"
_LIFE: Final = datetime.timedelta(days=365)
# Certificates are valid from one hour before their creation on, because the clocks of other machines may be
# slow.
_EARLIER: Final = datetime.timedelta(hours=1)
_ROLES: Final = ("client", "scheduler", "worker")


def security(
    folder: str | Path, *, secret: bytes | None = None, limits: TransportLimits | None = None
) -> Security:
    """Return the TLS security settings of the certificates in `folder`.

    Raise FileNotFoundError if a file is missing.
    """
    folder = Path(folder)
    for name in (AUTHORITY, CERTIFICATE, KEY):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"{folder / name} is missing; `ts cluster --tls-dir` creates certificates"
            )
    files: dict[str, Any] = {"tls_ca_file": str(folder / AUTHORITY)}
    for role in _ROLES:
        files[f"tls_{role}_cert"], files[f"tls_{role}_key"] = str(folder / CERTIFICATE), str(folder / KEY)
    return Security(require_encryption=True, secret=secret, limits=limits, **files)


def make(folder: str | Path, hosts: Iterable[str] = ()) -> None:
    """Create a certificate for this machine and `hosts` in `folder`. First create its authority if missing.

    Do nothing if the certificate, its key and the authority's certificate exist.
    """
    folder = Path(folder)
    if (folder / CERTIFICATE).exists() and (folder / KEY).exists() and (folder / AUTHORITY).exists():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    authority, authority_key = _authority(folder)
    key = _key()
    _write(folder / KEY, _key_bytes(key))
    certificate = _signed("ts cluster", key.public_key(), authority.subject, authority_key, _names(hosts))
    _write(folder / CERTIFICATE, _certificate_bytes(certificate))


def _authority(folder: Path) -> tuple[x509.Certificate, Any]:
    """Return (self-signed certificate of the authority in `folder`, its private key).

    Create missing files.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    path, key_path = folder / AUTHORITY, folder / AUTHORITY_KEY
    if path.exists() and key_path.exists():
        key: Any = load_pem_private_key(key_path.read_bytes(), password=None)
        return x509.load_pem_x509_certificate(path.read_bytes()), key
    if path.exists():
        raise FileNotFoundError(f"{key_path} is missing; it is needed to sign {CERTIFICATE}")
    key = _key()
    _write(key_path, _key_bytes(key))
    certificate = _signed("ts cluster authority", key.public_key(), None, key, None)
    _write(path, _certificate_bytes(certificate))
    return certificate, key


def _signed(
    name: str, public_key: Any, issuer: x509.Name | None, key: Any, names: list[x509.GeneralName] | None
) -> x509.Certificate:
    """Return a certificate for the subject `name`, signed with the private key `key` (certificate signing).

    `names` are the subject alternative names. If `names` is None, the certificate is the self-signed
    certificate of an authority.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    is_authority = names is None
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer or subject)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + _LIFE)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), True)
        .add_extension(_usage(is_authority), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), False)
    )
    if names is not None:
        both_ends = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(both_ends), False)
    return builder.sign(key, SHA256())


def _usage(is_authority: bool) -> x509.KeyUsage:
    from cryptography import x509

    names = "content_commitment key_encipherment data_encipherment key_agreement encipher_only decipher_only"
    unused = dict.fromkeys(names.split(), False)
    signs = {"key_cert_sign": is_authority, "crl_sign": is_authority}
    return x509.KeyUsage(digital_signature=not is_authority, **signs, **unused)


def _names(hosts: Iterable[str]) -> list[x509.GeneralName]:
    """Return the host names and IP addresses of this machine, plus `hosts`, as subject alternative names."""
    from cryptography import x509
    from distributed.utils import get_ip

    hostnames = dict.fromkeys([socket.gethostname(), "localhost", "127.0.0.1", "::1", get_ip(), *hosts])
    names: list[x509.GeneralName] = []
    for name in hostnames:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            names.append(x509.DNSName(name))
        else:
            names += [] if address.is_unspecified else [x509.IPAddress(address)]
    return names


def _key() -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _key_bytes(key: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(  # type: ignore[no-any-return]
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _certificate_bytes(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _write(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
