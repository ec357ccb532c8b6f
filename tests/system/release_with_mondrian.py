"""Our own Mondrian as a program: ``release_with_mondrian.py INPUT OUTPUT SENSITIVE K``."""

import sys

from indiff.release import write_frame
from indiff.sanitizers.mondrian import Mondrian
from indiff.table import read_table

table = read_table(sys.argv[1], sensitive=sys.argv[3])
# For D⁻ⁱ the test lets a constraint that cannot be met generalize everything.
release = Mondrian(k=int(sys.argv[4]), unmet="generalize").sanitize(table)
write_frame(release.to_arrow(), sys.argv[2])
