"""Write down what a real server says to the cases.

    python -m conformance.validation.record [AREA ...] [--kubeconfig FILE]

asks a cluster of its own, or that of the kubeconfig (``python -m conformance.cluster
--kubeconfig-out FILE``), and writes ``answers/AREA.json``.
"""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack

from conformance.requests import Json
from conformance.validation.asking import Asker
from conformance.validation.cases import AREAS, answers_file, bases
from conformance.validation.servers import add_option, real_session


def main() -> None:
    parser = argparse.ArgumentParser(description="record what a real server says to the cases")
    parser.add_argument("areas", nargs="*", metavar="AREA", help="all of them if none is given")
    add_option(parser)
    options = parser.parse_args()
    with ExitStack() as stack:
        asker = Asker(real_session(options, stack))
        for area in options.areas or AREAS:
            answers: dict[str, Json] = {}
            for base in bases(area):
                for case in base.cases:
                    answers[case.title] = asker.answer(case)
            text = json.dumps(answers, indent=1, ensure_ascii=False)
            answers_file(area).write_text(text + "\n", encoding="utf-8")
            print(f"{area}: {len(answers)} answers")


if __name__ == "__main__":
    main()
