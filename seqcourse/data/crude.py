"""Sentences that the course leaves out: swearing, insults, slurs, sexual violence.

The patterns are encoded (codec "rot13"), so that nobody reads them by accident. Each is matched
at the start of a token; "$" marks the end of a word.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from seqcourse.errors import CourseError

_HIDDEN = {
    "en": """
        shpx fuvg ohyyfuvg ovgpu onfgneq juber fyhg phag qvpxurnq chffl nffubyr nff$ nffrf$
        nefr cvff penc$ penccl qnza tbqqnza encr$ encrq encvat encvfg avtt snttbg snt$ cbea
        frk$ frkl frkhny znfgheong betnfz cravf intvan obbof?$ gvgf$ cebfgvghg rerpgvba
        ubeal grfgvpyr sneg$ snegrq snegvat cbbc fhvpvq uvgyre anmv zbgures jnax qbhpur
        wnpxnff qhzonff oybjwbo pbaqbzf?$ ahqr$ vaprfg crqbcuvy pbpxfhpx fphzont ubbxre
        oebgury travgny pnfgeng ohttre uryy'f$ wrex$ wrexf$ zbeba vqvbg ergneq$ ergneqrq
    """,
    "es": """
        chg[nb]f?$ chgnq uvwbchg zvreq wbq(?:re|vq|r$|na$|vraqb|í) pbñb pbwba
        sbyy(?:ne|n$|nf$|ó$|nqb|naqb) cbyynf?$ pnoe[bó]a tvyvcbyy znevp[nbó] iretn craqrw
        puvat phybf?$ ivbynqbe ivbyneba$ ivbynq ivbyó$ ivbyne$ fhvpvq frkb$ frkhny frkl
        cebfgvgh crarf?$ intvan grgnf?$ crqbf?$ ubfgvn mbeenf?$ pnenwb
        pnt(?:ne|nq|ó$|n$|b$|naqb) zr(?:ne$|naqb$) onfgneq qrfahq uvgyre anmv cbeab pbaqba
        pbaqóa znfgheo betnfz oheqry enzren vzoépvy vqvbgn tvyvc znznq[nb]
    """,
    "fr": """
        zreq chgnva chgrf?$ fnybc fnynhq pbaa(?:neq|nffr) pbaf?$ pbaar$ pbaarevr sbhg[eh]
        sbhf$ phy$ phyf$ ovgrf?$ pbhvyy raphy obeqry onvf(?:é|ér|éf)$ puvre$ puvé$ puvna
        puvr$ cvffr avdh cégnffr ivby(?:é|ér|re|f|rhe|rhef)?$ frkr frkhry frkl fhvpvq oâgneq
        avpuba thrhyr$ uvgyre anmv cbeab cbeabtencu ceéfreingvs znfgheo betnfz céavf intva
        cebfgvgh cégre$ cégé$ crgf?$ céqé tnepr peégva vzoépvyr vqvbg qéovyr ahqvgé gebhqhp
        rzzreq oenay
    """,
}


def _compile(hidden: str) -> re.Pattern[str]:
    stems = codecs.decode(hidden, "rot13").split()
    return re.compile("|".join(f"(?:{stem})" for stem in stems))


_PATTERNS = {language: _compile(hidden) for language, hidden in _HIDDEN.items()}


def is_crude(tokens: Iterable[str], language: str) -> bool:
    """True if one of the (lower-cased) tokens is on the list of its language (en, es or fr).

    Raises:
        CourseError: the language has no list.
    """
    if language not in _PATTERNS:
        raise CourseError(
            f"What should be left out in {language!r}? seqcourse/data/crude.py has no list."
        )
    return any(_PATTERNS[language].match(token) for token in tokens)
