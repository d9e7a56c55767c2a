/* fpregs: which probes read the registers for floating point numbers, and what that needs: programs
 * that can sleep, and threads that others give way to. */
#include "probes/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

/* ---- which ------------------------------------------------------------------------------- */

static void read_args(struct dpe_probes *probes, struct dpe_spot *spot)
{
	if (spot->vectors)
		return;
	spot->vectors = true;
	spot->signature = dpe_signature_with_vectors(spot->signature, probes->arena);
}

/* Of a spot that comes when it is too late to begin, nothing is read. */
static bool may_read(const struct dpe_probes *probes, const struct dpe_spot *spot)
{
	return !probes->placed || (size_t)(spot - probes->spots) < probes->vector_spots;
}

void dpe_vectors_note(struct dpe_probes *probes, struct dpe_spot *spot)
{
	if (!may_read(probes, spot))
		return;
	for (unsigned i = 0; i < 64; i++)
		if (spot->used >> i & 1 && dpe_signature_in_vector(spot->signature, i))
			read_args(probes, spot);
	if (!spot->ret || !dpe_signature_ret_in_vector(spot->signature))
		return;
	spot->vector_ret = true;
	spot->signature = dpe_signature_with_vector_ret(spot->signature, probes->arena);
}

void dpe_vectors_note_part(
	struct dpe_probes *probes, struct dpe_spot *spot, unsigned arg, uint64_t offset)
{
	if (may_read(probes, spot) &&
		dpe_signature_part_in_vector(spot->signature, arg, offset))
		read_args(probes, spot);
}

/* ---- whether ----------------------------------------------------------------------------- */

static bool reads_vectors(const struct dpe_spot *spot)
{
	return spot->vectors || spot->vector_ret;
}

static bool are_needed(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->nspots; i++)
		if (reads_vectors(&probes->spots[i]))
			return true;
	return false;
}

/* What types a function of another program has that is not there yet nobody knows. Of libraries there is
 * an option to name them, so that all others need not wait for this. */
static bool may_come(const struct dpe_probes *probes)
{
	for (unsigned i = 0; probes->follows && probes->awaited && i < probes->plan->nsites; i++) {
		const struct dpe_site *site = &probes->plan->sites[i];

		if (probes->awaited[i] && !site->optional && (site->used || site->ret))
			return true;
	}
	return false;
}

bool dpe_vectors_are_wanted(const struct dpe_probes *probes)
{
	return are_needed(probes) || may_come(probes);
}

/* ---- beginning --------------------------------------------------------------------------- */

static const char *explain(int error)
{
	bool may_be_first = dpe_capabilities() >> CAP_SYS_NICE & 1;

	if (error == -EPERM && !may_be_first)
		return "dpe needs the capability CAP_SYS_NICE for it";
	if (error == -EPERM)
		return "it needs threads of real time, which the control group of dpe may not have "
		       "(cpu.rt_runtime_us)";
	if (error)
		return strerror(-error);
	return "they cannot be read on this kernel (it takes Linux 6.0)";
}

static bool refuse(const struct dpe_probes *probes, int error, struct dpe_diags *diags)
{
	for (unsigned i = 0; i < probes->nspots; i++) {
		const struct dpe_spot *spot = &probes->spots[i];

		if (reads_vectors(spot))
			dpe_diag(diags, DPE_ERROR, spot->site->place,
				"the rules ask for values of '%s' that are in registers for floating "
				"point numbers: %s",
				dpe_name_text(probes->names, spot->site->name), explain(error));
	}
	return false;
}

bool dpe_vectors_begin(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool can = false;
	int error = 0;

	if (!probes->vector_spots)
		return !are_needed(probes) || refuse(probes, 0, diags);
	error = dpe_wakers_begin(&probes->wakers, dpe_attach_wakers(probes));
	can = !error && dpe_attach_try_vectors(probes);
	if (can) {
		for (unsigned i = 0; i < probes->nspots; i++)
			dpe_vectors_tell_spot(probes, dpe_attach_vector_map(probes), i);
		return true;
	}
	dpe_wakers_end(&probes->wakers);
	probes->vector_spots = 0;
	return !are_needed(probes) || refuse(probes, error, diags);
}

void dpe_vectors_tell_spot(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_spot *spot = &probes->spots[number];
	struct dpe_vector_words words;

	if (!spot->vectors)
		return;
	dpe_signature_vectors(spot->signature, words.from);
	bpf_map_update_elem(map, &number, &words, BPF_ANY);
}

void dpe_vectors_tell_unread(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t count = dpe_attach_unread_vectors(probes);

	if (count)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"registers for floating point numbers could not be read %llu time%s: these "
			"events are lost, and so are the returns of such calls",
			(unsigned long long)count, count == 1 ? "" : "s");
}
