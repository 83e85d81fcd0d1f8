"""Verifies deliveries of Easel's webhooks. Python 3.8 or newer, no packages."""
import hashlib
import hmac
import time


def verify(body: bytes, header: str, secret: str, tolerance_s: float = 300, now_s=None) -> bool:
    """Whether one of the signatures is right and the delivery was sent within `tolerance_s`.

    `body`: the bytes of the request, before they are parsed. `header`: the value of Easel-Signature.
    `secret`: as it was shown, with whsec_. The header webhook-id is the same when a delivery comes again: take each id once.
    """
    now_s = time.time() if now_s is None else now_s
    parts = [part.strip() for part in (header or "").split(",")]
    timestamp = next((part[2:] for part in parts if part.startswith("t=")), "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(now_s - int(timestamp)) > tolerance_s:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    # Two signatures for a day after a rotation of the secret.
    given = [part[3:] for part in parts if part.startswith("v1=")]
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in given)
