"""The search: which sections it finds for what readers ask, and how it is used."""

from __future__ import annotations

import pytest
from docutils import nodes

from seqcourse.pages.prose import formula, prose, tidy

from .conftest import PHONE, open_page

# Queries, and the sections of which one should be first or second.
QUERIES = {
    "attention mask": "08_masking#which-way-round-is-a-mask 08_masking#do-not-look-ahead",
    "beam search": "03_decoding#beam-search-a-few-paths-at-once",
    "why divide by sqrt d": "06_the_attention_layer#why-divide-by-the-root-of-d",
    "padding": "08_masking#padding-and-both-at-once",
    "grade": "appendix_teaching#grade-by-hand appendix_teaching#collect-and-grade",
    "positional encoding": "07_self_attention_and_position#positions "
    "07_self_attention_and_position#sines-and-cosines",
    "scaled dot-product": "06_the_attention_layer#from-any-similarity-to-a-scaled-dot-product",
    "glossary": "appendix_glossary#glossary",
    "teacher forcing": "04_training_a_decoder#the-teacher",
    "exposure bias": "04_training_a_decoder#what-the-teacher-hides",
    "vanishing gradients": "01_recurrent_networks#gradients-that-fade-gradients-that-blow-up",
    "LSTM gates": "01_recurrent_networks#when-it-fades-a-memory-that-is-added-to",
    "kv cache": "08_masking#the-key-value-cache",
    "label smoothing": "11_the_transformer_translates#label-smoothing",
    "layer normalization": "10_the_transformer_block#layer-normalisation",
    "residual connections": "10_the_transformer_block#residual-connections",
    "multi-head attention": "09_multi_head_attention#multi-head-attention",
    "cross-attention": "06_the_attention_layer#cross-attention",
    "BLEU": "02_encoder_decoder#on-real-sentences 11_the_transformer_translates#bleu-by-length",
    "top-k sampling": "03_decoding#drawing-at-random",
    "causal mask": "08_masking#do-not-look-ahead",
    "image captioning": "13_image_captioning#image-captioning",
    "word error rate": "15_speech#how-many-words-are-wrong",
    "BERT masked language model": "12_pre_training#pre-train-masked-words",
    "vision transformer patches": "14_vision_and_attention#vision-and-attention",
    "gradient clipping": "01_recurrent_networks#when-it-blows-up-clip-it",
    "how do I install it": "appendix_environment#installing",
    "late submissions": "appendix_teaching#late-work",
    "pre-norm or post-norm": "10_the_transformer_block#before-or-after-pre-norm-and-post-norm",
    "layernorm": "10_the_transformer_block#layer-normalisation",
    "CTC": "15_speech#a-letter-or-nothing-at-every-moment",
    "BPE": "11b_where_tokens_come_from#join-the-most-frequent-pair",
    "plagiarism": "appendix_teaching#similar-work",
    "cheating": "appendix_teaching#similar-work",
    "softmax axis": "06_the_attention_layer#many-queries-at-once",
    "triu": "08_masking#masking 08_masking#do-not-look-ahead 08_masking#the-key-value-cache",
    "number of parameters": "10_the_transformer_block#counting-parameters",
}

ASK = """query => {
    const field = document.querySelector('.bd-search-container input');
    field.value = query;
    field.form.requestSubmit();
    const texts = selector => [...document.querySelectorAll(`#search-results ${selector}`)]
        .map(node => node.textContent);
    return {
        status: texts('[role=status]')[0],
        links: [...document.querySelectorAll('#search-results li a')].map(link => link.href),
        snippets: texts('li p'),
        marks: texts('mark')}}"""


@pytest.fixture(scope="module")
def asked(chrome, site):
    """The search page in a folder, without a server, and what answers a query."""
    seen = open_page(chrome, f"{site.as_uri()}/search.html?q=attention")
    seen.page.wait_for_selector("#search-results li a")
    yield seen
    seen.page.context.close()


@pytest.mark.browser
def test_sections_are_found(asked):
    """Thirty queries; all that are wrong are named together."""
    wrong = {}
    for query, right in QUERIES.items():
        links = asked.page.evaluate(ASK, query)["links"]
        first = [link.split("/book/")[1].replace(".html", "") for link in links[:2]]
        if not set(first) & set(right.split()):
            wrong[query] = first
    assert wrong == {}
    assert asked.troubles == [] and asked.foreign() == []


@pytest.mark.browser
def test_links_lead_to_sections_that_are_there(asked, site):
    for link in asked.page.evaluate(ASK, "attention weights")["links"]:
        page, _, anchor = link.removeprefix(site.as_uri()).partition("#")
        assert f'id="{anchor}"' in (site / page.lstrip("/")).read_text(encoding="utf-8"), link


@pytest.mark.browser
def test_an_answer_says_how_many_and_marks_words_of_prose(asked):
    answer = asked.page.evaluate(ASK, "masked softmax")
    assert answer["status"].endswith(" sections found.")
    assert {"softmax", "mask"} <= {word.strip(".,:;").lower() for word in answer["marks"]}
    assert not any("\\" in snippet or "import " in snippet for snippet in answer["snippets"])
    assert asked.page.url.endswith("?q=masked%20softmax")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("atention", "Nothing found for “atention”. Did you mean attention?"),
        ("xyzzyplugh", "Nothing found for “xyzzyplugh”. Try another word, or fewer."),
        ("<b>mask</b> qqqq", "None has “qqqq”."),
        ("constructor", "Nothing found for “constructor”."),
        ("__proto__ toString", "Nothing found"),
        ("", "Type a word or a question."),
        ("?!", "Nothing found for “?!”."),
        ("a" * 10_000, "Nothing found"),
    ],
)
def test_what_is_not_there_is_said(asked, query, status):
    assert status in asked.page.evaluate(ASK, query)["status"]


@pytest.mark.browser
def test_the_keyboard_is_enough(visit):
    """From a chapter: Ctrl-K, a query, Enter, down into the results, Enter."""
    page = visit("book/references", viewport=PHONE).page
    page.keyboard.press("Control+k")
    page.keyboard.type("key-value cache")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")
    page.locator(".bd-search-container input").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/08_masking.html#*")
    assert page.url.endswith("#the-key-value-cache")


def test_formulas_are_signs_or_an_ellipsis():
    assert formula(r"D_Q") == "DQ"
    assert formula(r"\sqrt{D} \times 2") == "√D × 2"
    assert formula(r"\sum_t \frac{a}{b}") == "…"


def test_prose_leaves_out_code_and_raw_html():
    paragraph = nodes.paragraph(
        "", "", nodes.Text("Mask "), nodes.math("", "x"), nodes.Text(", then sum.")
    )
    code = nodes.literal_block("", "import torch")
    raw = nodes.raw("", "<div>frames</div>", format="html")
    section = nodes.section("", paragraph, code, raw, ids=["one"])
    assert tidy(" ".join(map(prose, section.children))) == "Mask x, then sum."
