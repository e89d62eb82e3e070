"""Tasks in a prompt: a description, K examples, a question (Brown et al. 2020)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from seqcourse.errors import CourseError

EXAMPLES = 16  # so many pairs of a task are for prompts; the others are the questions


@dataclass(frozen=True)
class PromptTask:
    """One task.

    Attributes:
        name: for tables.
        description: the first line of every prompt.
        pairs: questions and answers, one word each.
        sign: the text between question and answer.
        words: the same as a question in plain words, with {} where a pair's question goes.
    """

    name: str
    description: str
    pairs: tuple[tuple[str, str], ...]
    sign: str = " =>"
    words: str = ""

    def questions(self) -> tuple[tuple[str, str], ...]:
        """The pairs to ask, which are never examples."""
        return self.pairs[EXAMPLES:]

    def prefix(self, shots: int, draw: int = 0) -> str:
        """The description and K drawn examples, one a line.

        Raises:
            CourseError: if there are not as many examples.
        """
        if not 0 <= shots <= EXAMPLES:
            raise CourseError(f"Expected 0 to {EXAMPLES} examples, not {shots}.")
        chosen = random.Random(draw).sample(self.pairs[:EXAMPLES], shots)
        lines = [f"{question}{self.sign} {answer}" for question, answer in chosen]
        return "\n".join([self.description, *lines]) + "\n"

    def prompt(self, question: str, shots: int, draw: int = 0) -> str:
        """The whole prompt, up to the sign: the model writes what follows."""
        return f"{self.prefix(shots, draw)}{question}{self.sign}"


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (item.split("/") for item in text.split())
    return tuple((question.replace("_", " "), answer) for question, answer in pairs)


TASKS = {
    task.name: task
    for task in (
        PromptTask(
            "capitals",
            "Give the capital of each country.",
            _pairs(
                "France/Paris Japan/Tokyo Egypt/Cairo Canada/Ottawa Norway/Oslo Peru/Lima "
                "Kenya/Nairobi Greece/Athens Poland/Warsaw Cuba/Havana Iran/Tehran Nepal/Kathmandu "
                "Chile/Santiago Ireland/Dublin Thailand/Bangkok Portugal/Lisbon "
                "Italy/Rome Spain/Madrid Germany/Berlin Russia/Moscow China/Beijing Sweden/Stockholm "
                "Austria/Vienna Hungary/Budapest Turkey/Ankara Iraq/Baghdad Denmark/Copenhagen "
                "Finland/Helsinki Belgium/Brussels Australia/Canberra Ukraine/Kyiv Vietnam/Hanoi "
                "Morocco/Rabat Ghana/Accra Mali/Bamako Bulgaria/Sofia Colombia/Bogota "
                "Lebanon/Beirut Syria/Damascus Senegal/Dakar"
            ),
            words="What is the capital of {}?",
        ),
        PromptTask(
            "past tense",
            "Give the past tense of each verb.",
            _pairs(
                "go/went see/saw take/took make/made write/wrote sing/sang know/knew buy/bought "
                "break/broke drive/drove fall/fell find/found give/gave hear/heard keep/kept lose/lost "
                "eat/ate drink/drank swim/swam think/thought bring/brought catch/caught teach/taught "
                "sleep/slept speak/spoke steal/stole throw/threw fly/flew grow/grew begin/began "
                "ride/rode run/ran sell/sold send/sent sit/sat stand/stood tell/told wear/wore win/won "
                "choose/chose"
            ),
            words="What is the past tense of the verb {}?",
        ),
        PromptTask(
            "opposites",
            "Give the opposite of each word.",
            _pairs(
                "hot/cold tall/short up/down open/closed happy/sad rich/poor hard/soft day/night "
                "black/white left/right love/hate first/last inside/outside true/false wet/dry "
                "strong/weak "
                "big/small fast/slow old/young early/late high/low good/bad long/short full/empty "
                "light/dark heavy/light near/far win/lose before/after north/south east/west "
                "always/never push/pull thick/thin cheap/expensive clean/dirty loud/quiet "
                "easy/difficult wide/narrow sweet/sour"
            ),
            words="What is the opposite of {}?",
        ),
        PromptTask(
            "Spanish",
            "Translate English to Spanish.",
            _pairs(
                "house/casa dog/perro red/rojo book/libro milk/leche sun/sol hand/mano friend/amigo "
                "white/blanco night/noche tree/árbol door/puerta fish/pescado king/rey bread/pan "
                "three/tres "
                "water/agua cat/gato green/verde school/escuela wine/vino moon/luna head/cabeza "
                "brother/hermano black/negro day/día flower/flor window/ventana horse/caballo "
                "queen/reina cheese/queso four/cuatro city/ciudad mother/madre table/mesa blue/azul "
                "salt/sal street/calle heart/corazón love/amor"
            ),
            words="What is the Spanish word for {}?",
        ),
        PromptTask(
            "addition",
            "Add the two numbers.",
            tuple(
                (f"{a} + {b}", str(a + b))
                for a, b in (
                    (12, 34), (25, 61), (43, 19), (57, 28), (31, 46), (64, 15), (22, 39), (71, 18),
                    (16, 53), (48, 37), (35, 24), (59, 32), (27, 45), (13, 68), (41, 26), (66, 29),
                    (17, 26), (34, 52), (45, 38), (23, 14), (58, 21), (36, 47), (62, 25), (19, 73),
                    (28, 33), (51, 44), (15, 67), (74, 12), (39, 56), (42, 31), (63, 27), (24, 49),
                    (11, 78), (37, 18), (55, 16), (29, 64), (46, 35), (18, 54), (33, 59), (21, 72),
                )
            ),
            sign=" =",
            words="What is {}?",
        ),
    )
}  # fmt: skip

#: Three pairs as in class, the first of them quoted from Brown et al. (2020), and a place for a fourth.
GRAMMAR = """Poor English input: I eated the purple berries.
Good English output: I ate the purple berries.
Poor English input: She no went to the market.
Good English output: She did not go to the market.
Poor English input: He have two dog.
Good English output: He has two dogs.
Poor English input: {}
Good English output:"""

#: Poor sentences, and what counts as good.
POOR = {
    "We was happy yesterday.": ("We were happy yesterday.",),
    "They goes to school every day.": ("They go to school every day.",),
    "I have saw this film.": ("I have seen this film.", "I saw this film."),
    "She sing very good.": ("She sings very well.",),
    "There is many people here.": ("There are many people here.",),
    "He don't like fish.": ("He doesn't like fish.", "He does not like fish."),
    "I am living here since three years.": (
        "I have been living here for three years.",
        "I have lived here for three years.",
    ),
    "The informations are on the table.": ("The information is on the table.",),
}
