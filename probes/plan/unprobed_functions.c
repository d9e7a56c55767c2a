/* Code that the kernel puts no probe on. Functions of `sync` rules that begin with a lock prefix (pthread_spin_lock) are
 * dropped; if the program calls one, a warning says that the order that it establishes is not observed. */
#include "probes/plan/site_passes.h"

#include <string.h>
#include <unistd.h>

#define LOCK_PREFIX 0xf0

static bool begins_locked(const struct dpe_site *site)
{
	uint8_t first = 0;

	return !site->placement.distance &&
	       pread(site->module->fd, &first, 1, (off_t)site->function->offset) == 1 &&
	       first == LOCK_PREFIX;
}

static void warn_callers(
	const struct dpe_probes *probes, const struct dpe_site *site, struct dpe_diags *diags)
{
	const char *name = dpe_name_text(probes->names, site->wanted->name);

	for (unsigned i = 0; i < probes->modules.count; i++) {
		if (!dpe_module_imports(probes->modules.at[i], name))
			continue;
		dpe_diag(diags, DPE_WARNING, site->wanted->place,
			"%s calls %s, which the kernel puts no probe on: the order that it "
			"establishes is not observed, unless by --preload",
			probes->modules.at[i]->name, name);
		return;
	}
}

void dpe_sites_drop_unprobed(struct dpe_probes *probes, unsigned first, struct dpe_diags *diags)
{
	unsigned kept = first;

	for (unsigned i = first; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];

		if (site->wanted->optional && !site->preloaded && begins_locked(site))
			warn_callers(probes, site, diags);
		else
			probes->sites[kept++] = *site;
	}
	probes->nsites = kept;
}

bool dpe_sites_check_code(const struct dpe_probes *probes, unsigned first, struct dpe_diags *diags)
{
	for (unsigned i = first; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];

		if (site->preloaded || !dpe_module_is_writable(site->module, site->function->offset))
			continue;
		dpe_diag_at(diags, probes->placed ? DPE_WARNING : DPE_ERROR, site->module->path,
			"its code is in a segment that is also writable, where the kernel puts no probes: link it without -N (--omagic)");
		return false;
	}
	return true;
}
