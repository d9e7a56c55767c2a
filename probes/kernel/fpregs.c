/* fpregs: which probes read the registers for floating point numbers, and what that needs: programs
 * that can sleep, and threads that others give way to. */
#include "probes/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

/* ---- which ------------------------------------------------------------------------------- */

static void read_args(struct dpe_probes *probes, struct dpe_site *site)
{
	if (site->vectors)
		return;
	site->vectors = true;
	site->signature = dpe_signature_with_vectors(site->signature, probes->arena);
}

/* Of a site that comes when it is too late to begin, nothing is read. */
static bool may_read(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return !probes->placed || (size_t)(site - probes->sites) < probes->vector_sites;
}

void dpe_vectors_note(struct dpe_probes *probes, struct dpe_site *site)
{
	if (!may_read(probes, site))
		return;
	for (unsigned i = 0; i < 64; i++)
		if (site->used >> i & 1 && dpe_signature_in_vector(site->signature, i))
			read_args(probes, site);
	if (!site->ret || !dpe_signature_ret_in_vector(site->signature))
		return;
	site->vector_ret = true;
	site->signature = dpe_signature_with_vector_ret(site->signature, probes->arena);
}

void dpe_vectors_note_part(
	struct dpe_probes *probes, struct dpe_site *site, unsigned arg, uint64_t offset)
{
	if (may_read(probes, site) &&
		dpe_signature_part_in_vector(site->signature, arg, offset))
		read_args(probes, site);
}

/* ---- whether ----------------------------------------------------------------------------- */

static bool reads_vectors(const struct dpe_site *site)
{
	return site->vectors || site->vector_ret;
}

static bool are_needed(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		if (reads_vectors(&probes->sites[i]))
			return true;
	return false;
}

/* What types a function of another program has that is not there yet nobody knows. Of libraries there is
 * an option to name them, so that all others need not wait for this. */
static bool may_come(const struct dpe_probes *probes)
{
	for (unsigned i = 0; probes->follows && probes->awaited && i < probes->plan->nsites; i++) {
		const struct dpe_plan_site *site = &probes->plan->sites[i];

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
	for (unsigned i = 0; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];

		if (reads_vectors(site))
			dpe_diag(diags, DPE_ERROR, site->wanted->place,
				"the rules ask for values of '%s' that are in registers for floating "
				"point numbers: %s",
				dpe_name_text(probes->names, site->wanted->name), explain(error));
	}
	return false;
}

bool dpe_vectors_begin(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool can = false;
	int error = 0;

	if (!probes->vector_sites)
		return !are_needed(probes) || refuse(probes, 0, diags);
	error = dpe_wakers_begin(&probes->wakers, dpe_attach_wakers(probes));
	can = !error && dpe_attach_try_vectors(probes);
	if (can) {
		for (unsigned i = 0; i < probes->nsites; i++)
			dpe_vectors_tell_site(probes, dpe_attach_vector_map(probes), i);
		return true;
	}
	dpe_wakers_end(&probes->wakers);
	probes->vector_sites = 0;
	return !are_needed(probes) || refuse(probes, error, diags);
}

void dpe_vectors_tell_site(const struct dpe_probes *probes, int map, unsigned number)
{
	const struct dpe_site *site = &probes->sites[number];
	struct dpe_vector_words words;

	if (!site->vectors)
		return;
	dpe_signature_vectors(site->signature, words.from);
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
