"""The parts that every endpoint uses: errors, fields, bodies, replies, pages, rates."""
