"""The hidden check of assignment 9: the system that a student trained, on a hidden split.

The sentences are made here, by a small grammar over words that are frequent in the training pairs, in
English and in Spanish with number, gender and person agreeing. What is drawn depends on the class's
secret. This file is not released: a student who had it could train on the grammar.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seqcourse.capstone import SystemCheck

MOST_REFERENCES = 6


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; "f" and "m" is its gender in Spanish."""

    en: str
    es: str
    gender: str
    en_plural: str = ""
    es_plural: str = ""

    def english(self, plural: bool = False) -> str:
        return (self.en_plural or f"{self.en}s") if plural else self.en

    def spanish(self, plural: bool = False) -> str:
        ending = "s" if self.es[-1] in "aeioué" else "es"
        return (self.es_plural or self.es + ending) if plural else self.es


def nouns(text: str) -> list[Noun]:
    """Nouns from lines "boy niño m"; plurals that are no plain ones follow."""
    return [Noun(*line.split()) for line in text.strip().split("\n")]


PEOPLE = nouns(
    """boy niño m
girl niña f
man hombre m men
woman mujer f women
doctor médico m
teacher profesor m
friend amigo m
brother hermano m
sister hermana f
son hijo m
daughter hija f"""
)
PARENTS = nouns("mother madre f\nfather padre m")
ANIMALS = nouns("dog perro m\ncat gato m\nhorse caballo m")
FOOD = nouns("apple manzana f\ncake pastel m\nfish pescado m fish\negg huevo m")
STUFF = nouns(
    "bread pan m\nmeat carne f\nsoup sopa f\nwater agua m\nmilk leche f\ncoffee café m\ntea té m"
)
READING = nouns("book libro m\nletter carta f\nstory historia f stories")
THINGS = nouns(
    """car coche m
camera cámara f
shirt camisa f
hat sombrero m
bicycle bicicleta f
house casa f
table mesa f
bed cama f
key llave f
watch reloj m watches relojes
box caja f boxes
pen bolígrafo m"""
)
OPENED = nouns("door puerta f\nwindow ventana f\nbox caja f boxes\nletter carta f")
PLACES = nouns(
    """garden jardín m gardens jardines
kitchen cocina f
park parque m
school escuela f
hospital hospital m
library biblioteca f libraries
room habitación f rooms habitaciones
bank banco m"""
)
UPON = nouns("table mesa f\nbed cama f\nbox caja f boxes\nchair silla f")
# How something is (ser) and how it happens to be (estar): masculine, feminine; plurals add an s.
QUALITIES = {
    "big": ("grande", "grande"),
    "small": ("pequeño", "pequeña"),
    "new": ("nuevo", "nueva"),
    "old": ("viejo", "vieja"),
    "red": ("rojo", "roja"),
    "white": ("blanco", "blanca"),
    "black": ("negro", "negra"),
    "expensive": ("caro", "cara"),
    "beautiful": ("hermoso", "hermosa"),
}
STATES = {
    "tired": ("cansado", "cansada"),
    "sick": ("enfermo", "enferma"),
    "busy": ("ocupado", "ocupada"),
    "sad": ("triste", "triste"),
    "alone": ("solo", "sola"),
    "ready": ("listo", "lista"),
    "angry": ("enfadado", "enfadada"),
}
BE = ("am", "are", "is", "are", "are")
SER = ("soy", "eres", "es", "somos", "son")
ESTAR = ("estoy", "estás", "está", "estamos", "están")


@dataclass(frozen=True)
class Subject:
    """Who does it: English, the ways to say it in Spanish ("" leaves it out), and the person, 0 to 4:
    I, you, he or she, we, they. Each way has its gender, "m" or "f"."""

    en: str
    es: tuple[tuple[str, str, int], ...]  # words, gender, person
    person: int

    @property
    def plural(self) -> bool:
        return self.person > 2


PRONOUNS = [
    Subject("I", (("", "m", 0), ("", "f", 0), ("yo", "m", 0), ("yo", "f", 0)), 0),
    Subject("you", (("", "m", 1), ("", "f", 1), ("tú", "m", 1), ("usted", "m", 2)), 1),
    Subject("he", (("", "m", 2), ("él", "m", 2)), 2),
    Subject("she", (("", "f", 2), ("ella", "f", 2)), 2),
    Subject("we", (("", "m", 3), ("", "f", 3), ("nosotros", "m", 3)), 3),
    Subject("they", (("", "m", 4), ("", "f", 4), ("ellos", "m", 4), ("ellas", "f", 4)), 4),
]


@dataclass(frozen=True)
class Verb:
    """An English verb with its forms, and the Spanish ones that are not regular.

    present, past: five persons. Sentences with a form that is too rare are left out later.
    """

    en: str
    third: str
    past_en: str
    ing: str
    es: str
    present: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    gerund: str = ""

    def spanish(self, tense: str, person: int) -> str:
        stem, kind = self.es[:-2], self.es[-2:]
        if tense == "present":
            regular = {"ar": "o as a amos an", "er": "o es e emos en", "ir": "o es e imos en"}[kind]
            return self.present[person] if self.present else stem + regular.split()[person]
        if tense == "past":
            regular = "é aste ó amos aron" if kind == "ar" else "í iste ió imos ieron"
            return self.past[person] if self.past else stem + regular.split()[person]
        if tense == "gerund":
            return self.gerund or stem + ("ando" if kind == "ar" else "iendo")
        return self.es + "é ás á emos án".split()[person]


EAT = Verb("eat", "eats", "ate", "eating", "comer")
DRINK = Verb("drink", "drinks", "drank", "drinking", "beber")
READ = Verb(
    "read",
    "reads",
    "read",
    "reading",
    "leer",
    past=("leí", "leíste", "leyó", "leímos", "leyeron"),
    gerund="leyendo",
)
WRITE = Verb("write", "writes", "wrote", "writing", "escribir")
BUY = Verb("buy", "buys", "bought", "buying", "comprar")
NEED = Verb("need", "needs", "needed", "needing", "necesitar")
WANT = Verb(
    "want",
    "wants",
    "wanted",
    "wanting",
    "querer",
    present=("quiero", "quieres", "quiere", "queremos", "quieren"),
)
SEE = Verb(
    "see",
    "sees",
    "saw",
    "seeing",
    "ver",
    present=("veo", "ves", "ve", "vemos", "ven"),
    past=("vi", "viste", "vio", "vimos", "vieron"),
)
FIND = Verb(
    "find",
    "finds",
    "found",
    "finding",
    "encontrar",
    present=("encuentro", "encuentras", "encuentra", "encontramos", "encuentran"),
)
LOSE = Verb(
    "lose",
    "loses",
    "lost",
    "losing",
    "perder",
    present=("pierdo", "pierdes", "pierde", "perdemos", "pierden"),
)
OPEN = Verb("open", "opens", "opened", "opening", "abrir")
CLOSE = Verb(
    "close",
    "closes",
    "closed",
    "closing",
    "cerrar",
    present=("cierro", "cierras", "cierra", "cerramos", "cierran"),
)
STUDY = Verb("study", "studies", "studied", "studying", "estudiar")
WORK = Verb("work", "works", "worked", "working", "trabajar")
SLEEP = Verb(
    "sleep",
    "sleeps",
    "slept",
    "sleeping",
    "dormir",
    present=("duermo", "duermes", "duerme", "dormimos", "duermen"),
    past=("dormí", "dormiste", "durmió", "dormimos", "durmieron"),
    gerund="durmiendo",
)
DONE_TO: list[tuple[Verb, list[Noun]]] = [
    (EAT, FOOD + STUFF[:3]),
    (DRINK, STUFF[3:]),
    (READ, READING),
    (WRITE, READING),
    (BUY, THINGS + FOOD + READING[:1]),
    (NEED, THINGS + STUFF),
    (WANT, THINGS + FOOD + STUFF),
    (SEE, ANIMALS + THINGS + PEOPLE[:4]),
    (FIND, THINGS + ANIMALS + READING),
    (LOSE, THINGS[-5:] + READING[:2]),
    (OPEN, OPENED),
    (CLOSE, OPENED[:3]),
]
WHERE_DONE: list[tuple[Verb, list[Noun]]] = [
    (STUDY, PLACES[3:7]),
    (WORK, PLACES[2:]),
    (SLEEP, [PLACES[0], PLACES[6]]),
]
OWNERS = {"my": ("mi", "mi"), "your": ("tu", "tu"), "our": ("nuestro", "nuestra")}


def determined(rng: random.Random, noun: Noun, plural: bool, kinds: str) -> tuple[str, str]:
    """A noun with an article or an owner, in both languages.

    kinds: which may be drawn: "the", "a", "my" (or your, our), "this", "" for none.
    """
    kind = rng.choice(kinds.split())
    feminine = noun.gender == "f"
    stressed = noun.es == "agua"  # el agua, but feminine otherwise
    en, es = noun.english(plural), noun.spanish(plural)
    if kind == "the":
        article = ("los", "las")[feminine] if plural else ("el", "la")[feminine and not stressed]
        return f"the {en}", f"{article} {es}"
    if kind == "this":
        word = ("estos", "estas") if plural else ("este", "esta")
        return f"{'these' if plural else 'this'} {en}", f"{word[feminine]} {es}"
    if kind == "a" and not plural:
        return f"{'an' if en[0] in 'aeiou' else 'a'} {en}", f"{('un', 'una')[feminine]} {es}"
    if kind == "a":
        return f"two {en}", f"dos {es}"
    owner = rng.choice([*OWNERS])
    return f"{owner} {en}", f"{OWNERS[owner][feminine]}{'s' * plural} {es}"


def subject(rng: random.Random) -> Subject:
    """A pronoun or a person, one or several."""
    if rng.random() < 0.4:
        return rng.choice(PRONOUNS)
    noun = rng.choice(PEOPLE + PARENTS)
    plural = rng.random() < 0.3 and noun not in PARENTS
    own = noun in PARENTS + PEOPLE[6:]
    en, es = determined(rng, noun, plural, "my" if own else "the this")
    return Subject(en, ((es, noun.gender, 4 if plural else 2),), 4 if plural else 2)


def object_of(rng: random.Random, noun: Noun) -> tuple[str, str]:
    """What something is done to."""
    if noun in STUFF:
        return (noun.en, noun.es) if rng.random() < 0.6 else determined(rng, noun, False, "the my")
    return determined(rng, noun, rng.random() < 0.25, "the a a my this")


# A way to say a verb: English for a person, and the ways of Spanish for a person.
Way = tuple[Callable[[Verb, int], str], Callable[[Verb, int], list[str]]]


def _modal(third: str, others: str, forms: tuple[str, ...], link: str = "") -> Way:
    return (
        lambda verb, person: f"{third if person == 2 else others} {verb.en}",
        lambda verb, person: [f"{forms[person]} {link}{verb.es}"],
    )


WAYS: list[Way] = [
    (
        lambda verb, person: verb.third if person == 2 else verb.en,
        lambda verb, person: [verb.spanish("present", person)],
    ),
    (lambda verb, person: verb.past_en, lambda verb, person: [verb.spanish("past", person)]),
    (
        lambda verb, person: f"{BE[person]} {verb.ing}",
        lambda verb, person: [f"{ESTAR[person]} {verb.spanish('gerund', person)}"],
    ),
    (
        lambda verb, person: f"will {verb.en}",
        lambda verb, person: [
            f"{('voy', 'vas', 'va', 'vamos', 'van')[person]} a {verb.es}",
            verb.spanish("future", person),
        ],
    ),
    (
        lambda verb, person: f"{'doesn' if person == 2 else 'don'}'t {verb.en}",
        lambda verb, person: [f"no {verb.spanish('present', person)}"],
    ),
    (
        lambda verb, person: f"didn't {verb.en}",
        lambda verb, person: [f"no {verb.spanish('past', person)}"],
    ),
    _modal("can", "can", ("puedo", "puedes", "puede", "podemos", "pueden")),
    _modal("wants to", "want to", WANT.present),
    _modal("has to", "have to", ("tengo", "tienes", "tiene", "tenemos", "tienen"), "que "),
    _modal("needs to", "need to", ("necesito", "necesitas", "necesita", "necesitamos", "necesitan")),
]
STATIVE = (0, 1, 4, 5)  # the ways in which one can want, need or see something


def doing(rng: random.Random) -> tuple[str, list[str]]:
    """Somebody does something, to a thing or at a place."""
    who = subject(rng)
    verb, found = rng.choice(DONE_TO + WHERE_DONE)
    # One does not go on wanting, needing or seeing; and "quiso" says more than "wanted".
    way = rng.choice({WANT: (0, 4), NEED: STATIVE, SEE: STATIVE}.get(verb, range(len(WAYS))))
    english, spanish = WAYS[way]
    said = english(verb, who.person)
    ways = {person: spanish(verb, person) for _, _, person in who.es}
    noun = rng.choice(found)
    if (verb, found) in WHERE_DONE:
        en, es = determined(rng, noun, False, "the a" if verb is WORK else "the this")
        en, es = f"in {en}", f"en {es}"
    else:
        en, es = object_of(rng, noun)
    person_object = verb is SEE and noun in PEOPLE
    es = f"a {es}".replace("a el ", "al ") if person_object else es
    when = rng.choice(("", "", "", *DAYS.get(way, ())))
    day = f" {when}", f" {SPANISH_DAYS[when]}"
    found = [
        _joined(words, form, es) + day[1] * bool(when)
        for words, _, person in who.es
        for form in ways[person]
    ]
    return f"{who.en} {said} {en}" + day[0] * bool(when), found


DAYS = {1: ("yesterday",), 2: ("now",), 3: ("tomorrow", "today"), 0: ("every day",)}
SPANISH_DAYS = {
    "": "",
    "yesterday": "ayer",
    "now": "ahora",
    "tomorrow": "mañana",
    "today": "hoy",
    "every day": "todos los días",
}


def being(rng: random.Random) -> tuple[str, list[str]]:
    """Something has a quality, or somebody is in some state."""
    if rng.random() < 0.5:
        noun = rng.choice(THINGS + ANIMALS + PLACES)
        plural = rng.random() < 0.3
        en, es = determined(rng, noun, plural, "the my this")
        quality = rng.choice([*QUALITIES])
        word = _plural(QUALITIES[quality][noun.gender == "f"], plural)
        return f"{en} {BE[4 if plural else 2]} {quality}", [f"{es} {SER[4 if plural else 2]} {word}"]
    who, state = subject(rng), rng.choice([*STATES])
    found = [
        _joined(words, ESTAR[person], _plural(STATES[state][gender == "f"], person > 2))
        for words, gender, person in who.es
    ]
    return f"{who.en} {BE[who.person]} {state}", found


AT = (
    ("on", ("en", "sobre"), UPON),
    ("under", ("debajo de",), UPON),
    ("in", ("en",), PLACES[:3] + PLACES[6:7]),
)


def lying(rng: random.Random) -> tuple[str, list[str]]:
    """Something is somewhere, or there is something."""
    noun = rng.choice(THINGS[1:4] + THINGS[8:10] + THINGS[11:] + READING[:2])
    preposition, at, places = rng.choice(AT)
    en_place, es_place = determined(rng, rng.choice(places), False, "the the my this")
    plural = rng.random() < 0.3
    if rng.random() < 0.5:
        en, es = determined(rng, noun, plural, "a")
        en, es = f"there {'are' if plural else 'is'} {en}", f"hay {es}"
    else:
        en, es = determined(rng, noun, plural, "the my this")
        en, es = f"{en} {BE[4 if plural else 2]}", f"{es} {ESTAR[4 if plural else 2]}"
    return f"{en} {preposition} {en_place}", [
        f"{es} {each} {es_place}".replace("de el ", "del ") for each in at
    ]


LIKING = {  # who likes: English, Spanish before "gusta"
    "I": ("me",),
    "you": ("te", "a ti te", "le"),
    "we": ("nos", "a nosotros nos"),
    "they": ("les", "a ellos les", "a ellas les"),
    "he": ("le", "a él le"),
    "she": ("le", "a ella le"),
}


def liking(rng: random.Random) -> tuple[str, list[str]]:
    """Somebody likes something: in Spanish it is the thing that does it."""
    if rng.random() < 0.5:
        who = rng.choice([*LIKING])
        before, third = LIKING[who], who in ("he", "she")
    else:
        noun = rng.choice(PEOPLE + PARENTS)
        own = noun in PARENTS + PEOPLE[6:]
        who, es = determined(rng, noun, False, "my" if own else "the this")
        before, third = (f"a {es} le".replace("a el ", "al "),), True
    noun = rng.choice(STUFF + THINGS + ANIMALS + READING)
    plural = rng.random() < 0.3 and noun not in STUFF
    en, es = determined(rng, noun, plural, "the" if noun in STUFF else "my this the")
    if noun in STUFF:
        en = noun.en
    no = rng.random() < 0.3
    said = f"{'doesn' if third else 'don'}'t like" if no else "likes" if third else "like"
    found = []
    for words in before:
        *to, clitic = words.split()
        found.append(" ".join([*to, *["no"] * no, clitic, "gustan" if plural else "gusta", es]))
    return f"{who} {said} {en}", found


def asking(rng: random.Random) -> tuple[str, list[str]]:
    """Where something is."""
    noun = rng.choice(THINGS + ANIMALS + PLACES + READING + PEOPLE)
    plural = rng.random() < 0.3
    en, es = determined(rng, noun, plural, "the my")
    return (
        f"where {BE[4 if plural else 2]} {en}?",
        [f"¿dónde {ESTAR[4 if plural else 2]} {es}?"],
    )


KINDS = {doing: 11, being: 4, lying: 3, liking: 2, asking: 1}


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _plural(word: str, plural: bool) -> str:
    return word + "s" * plural


def _written(text: str) -> str:
    """As people write it: a capital letter, a full stop."""
    text = text if text.endswith("?") else f"{text}."
    start = 1 if text[0] == "¿" else 0
    return text[:start] + text[start].upper() + text[start + 1 :]


def drawn(seed: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """English sentences without end, each with its Spanish translations."""
    rng = random.Random(f"ps9 {seed}")
    for _ in itertools.count():
        english, spanish = rng.choices([*KINDS], [*KINDS.values()])[0](rng)
        several = dict.fromkeys(map(_written, spanish))
        yield _written(english), tuple(several)[:MOST_REFERENCES]


CHECKS = [SystemCheck("system-grade", drawn, file=Path(__file__).parent / "ps9" / "sentences.tsv")]
