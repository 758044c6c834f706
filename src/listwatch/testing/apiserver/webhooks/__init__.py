"""Admission webhooks: who is asked before an object is written, and what comes of their answers.

The core decides everything at once and does no I/O, so a write that somebody must be asked about is
tried again with each answer: `Consulting` remembers the answers of one request, and stops the write
where one is missing (`AnswersMissing`); `Consultation` is the reaction that goes on when they are
there. The face of the server sends the questions (`caller`).
"""
