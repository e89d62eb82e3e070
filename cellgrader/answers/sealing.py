"""Lock a text with a key in words, and open it again. Made of the standard library alone.

The same text and key always give the same lines, so that a release can be made again byte for byte.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

TAG = 16


def seal(text: str, key: str, salt: str) -> str:
    """Lock a text. The salt is public and says which answer it is."""
    stretched, plain = _stretched(key, salt), text.encode()
    # The tag depends on the text, so a changed text under an old key gets other noise.
    tag = hmac.digest(stretched, plain, hashlib.sha256)[:TAG]
    return base64.b64encode(tag + _mixed(plain, stretched, tag)).decode()


def unseal(sealed: str, key: str, salt: str) -> str | None:
    """The text, or None if the key does not open it or the lines are damaged."""
    try:
        content = base64.b64decode(sealed, validate=True)
    except (binascii.Error, ValueError):
        return None
    tag, stretched = content[:TAG], _stretched(key, salt)
    plain = _mixed(content[TAG:], stretched, tag)
    if not hmac.compare_digest(hmac.digest(stretched, plain, hashlib.sha256)[:TAG], tag):
        return None
    return plain.decode()


def _stretched(key: str, salt: str) -> bytes:
    """A key of 32 bytes; scrypt makes each guess cost some milliseconds."""
    return hashlib.scrypt(key.encode(), salt=salt.encode(), n=2**13, r=8, p=1, dklen=32)


def _mixed(content: bytes, key: bytes, tag: bytes) -> bytes:
    """The content with noise from the key laid over it; a second time takes it away."""
    noise = hashlib.shake_256(key + tag).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, noise, strict=True))
