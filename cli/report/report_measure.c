/* What actions have measured: counts, sums, histograms by powers of two, and quantiles, as text and as JSON. */
#include "cli/json_items.h"
#include "cli/report/writers.h"
#include "cli/report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR 40

static const struct {
	double share;
	const char *name;
} quantiles[] = {{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}};

static const char *const names[] = {"count", "sum", "hist", "quantiles"};

/* ---- numbers ------------------------------------------------------------------------------------ */

static bool is_whole(long double number)
{
	return number > -0x1p64L && number < 0x1p64L && number == truncl(number);
}

/* Three digits of a time, with its unit; other numbers as they are. */
static void add_number(struct dpe_text *to, long double number, bool is_time)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	const long double step = 1000;
	unsigned unit = 0;

	if (!is_time) {
		dpe_text_printf(to, is_whole(number) ? "%.0Lf" : "%.15Lg", number);
		return;
	}
	while (unit + 1 < DPE_COUNT(units) && (number >= step || number <= -step)) {
		number /= step;
		unit++;
	}
	dpe_text_printf(to, "%.*Lf %s", unit && number < step / 10 && number > -step / 10 ? 2 : 0, number, units[unit]);
}

/* Powers of two with the usual prefixes. */
static void add_bound(struct dpe_text *to, unsigned power, bool is_time)
{
	static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E"};

	if (is_time)
		add_number(to, (double)(UINT64_C(1) << power), true);
	else
		dpe_text_printf(to, "%u%s", 1u << power % 10, prefixes[power / 10]);
}

/* ---- histograms --------------------------------------------------------------------------------- */

struct histogram {
	uint64_t zero, powers[64], max;
	unsigned first, last; /* powers with values */
};

static struct histogram histogram_of(const struct dpe_measurement *measurement)
{
	struct histogram histogram = {.zero = measurement->buckets[0], .first = 64};

	histogram.max = histogram.zero > measurement->negative ? histogram.zero : measurement->negative;
	for (unsigned i = 1; i < DPE_MEASURE_BUCKETS; i++) {
		unsigned power = 63 - (unsigned)__builtin_clzll(dpe_bucket_begin(i));

		if (!measurement->buckets[i])
			continue;
		histogram.powers[power] += measurement->buckets[i];
		histogram.first = power < histogram.first ? power : histogram.first;
		histogram.last = power;
		if (histogram.powers[power] > histogram.max)
			histogram.max = histogram.powers[power];
	}
	return histogram;
}

static void add_row(struct dpe_text *to, const char *range, uint64_t count, uint64_t max)
{
	unsigned length = max ? (unsigned)((double)count / (double)max * BAR + 0.5) : 0;

	dpe_text_printf(to, "  %-22s %10" PRIu64 " |", range, count);
	for (unsigned i = 0; i < BAR; i++)
		dpe_text_puts(to, i < length ? "@" : " ");
	dpe_text_puts(to, "|\n");
}

static void add_histogram(struct dpe_text *to, const struct dpe_measurement *measurement)
{
	struct histogram histogram = histogram_of(measurement);

	if (measurement->negative)
		add_row(to, "(below 0)", measurement->negative, histogram.max);
	if (histogram.zero)
		add_row(to, "[0]", histogram.zero, histogram.max);
	for (unsigned power = histogram.first; power <= histogram.last && power < 64; power++) {
		struct dpe_text range = {0};

		dpe_text_puts(&range, "[");
		add_bound(&range, power, measurement->is_time);
		dpe_text_puts(&range, ", ");
		if (power < 63)
			add_bound(&range, power + 1, measurement->is_time);
		dpe_text_puts(&range, ")");
		add_row(to, range.at, histogram.powers[power], histogram.max);
		dpe_text_free(&range);
	}
}

/* ---- text ----------------------------------------------------------------------------------------- */

static void add_quantiles(struct dpe_text *to, const struct dpe_measurement *measurement)
{
	dpe_text_puts(to, "  min ");
	add_number(to, measurement->min, measurement->is_time);
	for (unsigned i = 0; i < DPE_COUNT(quantiles); i++) {
		dpe_text_printf(to, ", %s ", quantiles[i].name);
		add_number(to, dpe_measurement_quantile(measurement, quantiles[i].share), measurement->is_time);
	}
	dpe_text_puts(to, ", max ");
	add_number(to, measurement->max, measurement->is_time);
	dpe_text_puts(to, "\n");
}

static void add_sum(struct dpe_text *to, const struct dpe_measurement *measurement)
{
	add_number(to, measurement->sum, measurement->is_time);
	dpe_text_printf(to, " of %" PRIu64 " value%s", measurement->count, measurement->count == 1 ? "" : "s");
	if (!measurement->count)
		return;
	dpe_text_puts(to, ": mean ");
	add_number(to, measurement->sum / (long double)measurement->count, measurement->is_time);
	dpe_text_puts(to, ", min ");
	add_number(to, measurement->min, measurement->is_time);
	dpe_text_puts(to, ", max ");
	add_number(to, measurement->max, measurement->is_time);
}

/* The values of the key, addresses with the variables that are there. */
static void add_key(struct dpe_text *to, const struct cli_report *report, const char *key)
{
	while (*key) {
		size_t length = strcspn(key, " ");
		char *value = dpe_xasprintf("%.*s", (int)length, key), *end;
		struct dpe_value address = {.kind = DPE_POINTER};

		address.num = (int64_t)strtoull(value, &end, 16);
		cli_text_safe(to, value);
		if (!strncmp(value, "0x", 2) && !*end)
			cli_text_variable(to, report, address);
		free(value);
		key += length;
		dpe_text_puts(to, *key ? " " : "");
		key += *key == ' ';
	}
}

static void add_heading(struct dpe_text *to, const struct cli_report *report, const struct dpe_measurement *measurement)
{
	dpe_text_puts(to, dpe_rule_name(measurement->rule));
	if (*measurement->key) {
		dpe_text_puts(to, "[");
		add_key(to, report, measurement->key);
		dpe_text_puts(to, "]");
	}
	dpe_text_printf(to, ": %s%s", names[measurement->what], measurement->what >= DPE_HIST_OF ? " of " : " ");
	dpe_text_puts(to, measurement->at_least ? "at least " : "");
}

void cli_text_measurement(struct cli_report *report, const struct dpe_measurement *measurement)
{
	struct dpe_text text = {0};

	add_heading(&text, report, measurement);
	if (measurement->what == DPE_SUM_OF)
		add_sum(&text, measurement);
	else
		dpe_text_printf(&text, "%" PRIu64 "%s", measurement->count,
			measurement->what == DPE_COUNT_OF ? "" : measurement->count == 1 ? " value" : " values");
	dpe_text_puts(&text, "\n");
	if (measurement->what == DPE_HIST_OF)
		add_histogram(&text, measurement);
	if (measurement->what == DPE_QUANTILES_OF && measurement->count)
		add_quantiles(&text, measurement);
	if (measurement->others)
		dpe_text_printf(&text, "  %" PRIu64 " more were not numbers\n", measurement->others);
	if (measurement->more_keys)
		dpe_text_printf(&text, "  %" PRIu64 " more had other keys, for which there was no room\n", measurement->more_keys);
	fputs(text.at, report->to);
	dpe_text_free(&text);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

/* cJSON rounds to fifteen digits. */
static void add_json_number(cJSON *object, const char *name, long double number)
{
	char text[64];

	snprintf(text, sizeof(text), is_whole(number) ? "%.0Lf" : "%.17Lg", number);
	cJSON_AddItemToObject(object, name, isfinite(number) ? cJSON_CreateRaw(text) : cJSON_CreateNull());
}

static void add_json_buckets(cJSON *object, const struct dpe_measurement *measurement)
{
	struct histogram histogram = histogram_of(measurement);
	cJSON *list = cJSON_AddArrayToObject(object, "buckets");

	for (unsigned power = 0; power < 65; power++) {
		uint64_t count = power ? histogram.powers[power - 1] : histogram.zero;
		cJSON *bucket = count ? cJSON_CreateObject() : NULL;

		if (!bucket)
			continue;
		add_json_number(bucket, "from", power ? UINT64_C(1) << (power - 1) : 0);
		cJSON_AddNumberToObject(bucket, "count", (double)count);
		cJSON_AddItemToArray(list, bucket);
	}
}

static void add_json_quantiles(cJSON *object, const struct dpe_measurement *measurement)
{
	cJSON *values = cJSON_AddObjectToObject(object, "quantiles");

	for (unsigned i = 0; i < DPE_COUNT(quantiles) && measurement->count; i++) {
		char share[16];

		snprintf(share, sizeof(share), "%g", quantiles[i].share);
		add_json_number(values, share, dpe_measurement_quantile(measurement, quantiles[i].share));
	}
}

void cli_json_measurement(struct cli_report *report, const struct dpe_measurement *measurement)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "type", "measurement");
	cJSON_AddStringToObject(object, "rule", dpe_rule_name(measurement->rule));
	cJSON_AddStringToObject(object, "call", names[measurement->what]);
	if (*measurement->key)
		cJSON_AddStringToObject(object, "key", measurement->key);
	add_json_number(object, "count", measurement->count);
	if (measurement->at_least)
		cJSON_AddBoolToObject(object, "at_least", true);
	if (measurement->is_time)
		cJSON_AddStringToObject(object, "unit", "ns");
	if (measurement->what != DPE_COUNT_OF && measurement->count) {
		add_json_number(object, "sum", measurement->sum);
		add_json_number(object, "min", measurement->min);
		add_json_number(object, "max", measurement->max);
	}
	if (measurement->negative)
		cJSON_AddNumberToObject(object, "negative", (double)measurement->negative);
	if (measurement->others)
		cJSON_AddNumberToObject(object, "no_numbers", (double)measurement->others);
	if (measurement->more_keys)
		cJSON_AddNumberToObject(object, "more_keys", (double)measurement->more_keys);
	if (measurement->what == DPE_HIST_OF)
		add_json_buckets(object, measurement);
	if (measurement->what == DPE_QUANTILES_OF)
		add_json_quantiles(object, measurement);
	cli_json_print(report->to, object);
}
