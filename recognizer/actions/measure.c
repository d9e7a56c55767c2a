/* measure: count(), sum(), hist() and quantiles() of actions. Buckets are those of G. Tene's HdrHistogram: 32 to
 * each power of two, so that a quantile is right within half of one, 1.6 %. */
#include "recognizer/actions/actions.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

#define SUB_BUCKETS 32

struct measured_key {
	UT_hash_handle hh;
	struct dpe_measurement figures;
	uint64_t *buckets, *below; /* the values from 0 on, and the magnitudes of negative ones */
	char text[];
};

struct measured_call {
	UT_hash_handle hh;
	const struct dpe_stmt *stmt;
	const struct dpe_run *run;
	struct measured_key *keys;
	uint64_t more;
	bool is_time;
};

struct dpe_measures {
	struct measured_call *calls;
};

struct dpe_measures *dpe_measures_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_measures));
}

static void free_call(struct measured_call *call)
{
	struct measured_key *key, *next;

	HASH_ITER (hh, call->keys, key, next) {
		HASH_DEL(call->keys, key);
		free(key->buckets);
		free(key->below);
		free(key);
	}
	free(call);
}

void dpe_measures_free(struct dpe_measures *measures)
{
	struct measured_call *call, *next;

	if (!measures)
		return;
	HASH_ITER (hh, measures->calls, call, next) {
		HASH_DEL(measures->calls, call);
		free_call(call);
	}
	free(measures);
}

/* ---- buckets ---------------------------------------------------------------------------------- */

static unsigned bucket_of(uint64_t value)
{
	unsigned shift = value < 2 * SUB_BUCKETS ? 0 : 63 - 5 - (unsigned)__builtin_clzll(value);

	return shift * SUB_BUCKETS + (unsigned)(value >> shift);
}

uint64_t dpe_bucket_begin(unsigned bucket)
{
	unsigned shift = bucket < 2 * SUB_BUCKETS ? 0 : bucket / SUB_BUCKETS - 1;

	return (uint64_t)(bucket - shift * SUB_BUCKETS) << shift;
}

static double middle_of(unsigned bucket)
{
	unsigned shift = bucket < 2 * SUB_BUCKETS ? 0 : bucket / SUB_BUCKETS - 1;

	return (double)dpe_bucket_begin(bucket) + (double)((UINT64_C(1) << shift) - 1) / 2;
}

/* The middle of the bucket, or of its part from the least to the largest value. The last bucket has all that is larger. */
static double value_in(const struct dpe_measurement *measurement, unsigned bucket, bool negative)
{
	double value = negative ? -middle_of(bucket) : middle_of(bucket);

	if (value < (double)measurement->min || (negative && bucket == DPE_MEASURE_BUCKETS - 1))
		return (double)measurement->min;
	if (value > (double)measurement->max || bucket == DPE_MEASURE_BUCKETS - 1)
		return (double)measurement->max;
	return value;
}

double dpe_measurement_quantile(const struct dpe_measurement *measurement, double share)
{
	double wanted = share * (double)measurement->count, seen = 0;

	for (unsigned i = DPE_MEASURE_BUCKETS; measurement->below && i-- > 0;) {
		seen += (double)measurement->below[i];
		if (seen >= wanted)
			return value_in(measurement, i, true);
	}
	for (unsigned i = 0; i < DPE_MEASURE_BUCKETS; i++) {
		seen += (double)measurement->buckets[i];
		if (seen >= wanted)
			return value_in(measurement, i, false);
	}
	return (double)measurement->max;
}

/* ---- taking values ---------------------------------------------------------------------------- */

/* In nanoseconds: a quotient of times, or what is no longer in that unit, is not. */
static bool is_time(const struct dpe_expr *expr)
{
	switch (expr->kind) {
	case DPE_EXPR_FIELD:
		return expr->field == DPE_FIELD_TIME;
	case DPE_EXPR_UNARY:
		return is_time(expr->left) && (expr->op == DPE_OP_NEG || expr->op == DPE_OP_PLUS);
	case DPE_EXPR_BINARY:
		return (is_time(expr->left) || is_time(expr->right)) && (expr->op == DPE_OP_ADD || expr->op == DPE_OP_SUB);
	case DPE_EXPR_CONDITIONAL:
		return is_time(expr->right) || is_time(expr->third);
	default:
		return false;
	}
}

static struct measured_call *call_of(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	struct dpe_measures *measures = env->recognizer->measures;
	struct measured_call *call;

	HASH_FIND_PTR(measures->calls, &stmt, call);
	if (call)
		return call;
	call = dpe_xcalloc(1, sizeof(*call));
	call->stmt = stmt;
	call->run = env->run;
	call->is_time = stmt->call != DPE_CALL_COUNT && is_time(stmt->args[0]);
	HASH_ADD_PTR(measures->calls, stmt, call);
	return call;
}

/* NULL if there is no room for one more. */
static struct measured_key *key_of(struct measured_call *call, const struct dpe_text *text)
{
	struct measured_key *key;

	HASH_FIND(hh, call->keys, text->at, text->len, key);
	if (key)
		return key;
	if (HASH_COUNT(call->keys) >= DPE_MEASURED_KEYS) {
		call->more++;
		return NULL;
	}
	key = dpe_xcalloc(1, sizeof(*key) + text->len + 1);
	memcpy(key->text, text->at, text->len);
	key->figures = (struct dpe_measurement){.rule = call->run->rule,
		.what = (enum dpe_measuring)(call->stmt->call - DPE_CALL_COUNT),
		.key = key->text,
		.is_time = call->is_time};
	if (key->figures.what >= DPE_HIST_OF)
		key->figures.buckets = key->buckets = dpe_xcalloc(DPE_MEASURE_BUCKETS, sizeof(*key->buckets));
	HASH_ADD(hh, call->keys, text, text->len, key);
	return key;
}

/* A number, and its magnitude rounded down to a whole number. */
static bool number_of(struct dpe_value value, long double *number, uint64_t *magnitude)
{
	long double positive;
	char *end;

	if (value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER) {
		*number = value.kind == DPE_INT ? (long double)value.num : (long double)(uint64_t)value.num;
		*magnitude = *number < 0 ? -(uint64_t)value.num : (uint64_t)value.num;
		return true;
	}
	if (value.kind != DPE_RAW)
		return false;
	*number = strtold(value.text, &end);
	positive = *number < 0 ? -*number : *number;
	*magnitude = positive < 0x1p64L ? (uint64_t)positive : UINT64_MAX;
	return end == value.text + value.len && *number == *number;
}

static void add_value(struct measured_key *key, long double number, uint64_t magnitude)
{
	struct dpe_measurement *figures = &key->figures;

	figures->min = figures->count && figures->min < number ? figures->min : number;
	figures->max = figures->count && figures->max > number ? figures->max : number;
	figures->sum += number;
	figures->count++;
	figures->negative += number < 0;
	if (!key->buckets)
		return;
	if (number < 0 && !key->below)
		figures->below = key->below = dpe_xcalloc(DPE_MEASURE_BUCKETS, sizeof(*key->below));
	(number < 0 ? key->below : key->buckets)[bucket_of(magnitude)]++;
}

void dpe_measure_take(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	struct measured_key *key = key_of(call_of(env, stmt), env->text);
	long double number = 1;
	uint64_t magnitude = 1;

	if (!key)
		return;
	if (stmt->call != DPE_CALL_COUNT && !number_of(dpe_eval_number(env, stmt->args[0]), &number, &magnitude)) {
		key->figures.others++;
		return;
	}
	add_value(key, number, magnitude);
}

/* ---- reporting -------------------------------------------------------------------------------- */

static int by_place(const struct measured_call *left, const struct measured_call *right)
{
	if (left->run != right->run)
		return left->run < right->run ? -1 : 1;
	return left->stmt->place.begin < right->stmt->place.begin ? -1 : left->stmt->place.begin > right->stmt->place.begin;
}

static int by_count(const struct measured_key *left, const struct measured_key *right)
{
	uint64_t a = left->figures.count, b = right->figures.count;

	return a == b ? strcmp(left->text, right->text) : a > b ? -1 : 1;
}

void dpe_recognizer_measure(struct dpe_recognizer *recognizer)
{
	struct measured_call *call, *next;

	if (recognizer->exhausted || !recognizer->sink.measured)
		return;
	HASH_SORT(recognizer->measures->calls, by_place);
	HASH_ITER (hh, recognizer->measures->calls, call, next) {
		struct measured_key *key, *after;

		HASH_SORT(call->keys, by_count);
		HASH_ITER (hh, call->keys, key, after) {
			key->figures.at_least = call->run->inconclusive || dpe_doubt_any(recognizer);
			key->figures.more_keys = after ? 0 : call->more;
			recognizer->sink.measured(recognizer->sink.context, &key->figures);
		}
	}
}
