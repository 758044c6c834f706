"""An exec plugin: signs a client certificate that is good for some seconds, and prints it as an
ExecCredential. What it is told is in its environment.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def main() -> None:
    """See the module."""
    authority = x509.load_pem_x509_certificate(Path(os.environ["CA_FILE"]).read_bytes())
    signing = serialization.load_pem_private_key(Path(os.environ["CA_KEY"]).read_bytes(), None)
    assert isinstance(signing, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    until = now + datetime.timedelta(seconds=float(os.environ["SECONDS"]))
    names = [
        x509.NameAttribute(NameOID.COMMON_NAME, "rotating"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"),
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(names))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(until)
        .add_extension(
            x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .sign(signing, hashes.SHA256())
    )
    with Path(os.environ["RUNS"]).open("a") as file:
        print(until.isoformat(), file=file)
    # A certificate has whole seconds.
    good = until.replace(microsecond=0)
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {
            "clientCertificateData": certificate.public_bytes(serialization.Encoding.PEM).decode(),
            "clientKeyData": key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ).decode(),
            "expirationTimestamp": good.isoformat(),
        },
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
