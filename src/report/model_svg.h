/* Pictures of a report as inline SVG: readable in light and dark, without script, with a text alternative each. */
#ifndef PW_REPORT_MODEL_SVG_H
#define PW_REPORT_MODEL_SVG_H

#include "report/model.h"

/* Coverage by category: a bar a category, split by what serves its signatures. */
void pw_svg_coverage(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out);
/* Error over tolerance of each verified signature, on a logarithmic scale, the tolerance as a line. */
void pw_svg_errors(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out);
/* FLOP rate against arithmetic intensity of each benchmarked signature, under the roofs that they were judged by. */
void pw_svg_roofline(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out);
/* Operators (rows) x dtypes (columns): worst share of the tolerance. */
void pw_svg_heat(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out);
/* A small line of a signature's speeds. */
void pw_svg_trend(const struct pw_report_row *row, struct pw_buf *out);

#endif
