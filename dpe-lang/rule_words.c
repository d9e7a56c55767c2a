/* The words for modes, classes and pairings. */
#include "dpe-lang/dpe-lang.h"

const char *dpe_mode_name(enum dpe_mode mode)
{
	static const char *const names[] = {"expect", "detect", "sync", "predict"};

	return names[mode];
}

const char *dpe_rule_mode_name(const struct dpe_rule *rule)
{
	return rule->measures ? "measure" : dpe_mode_name(rule->mode);
}

const char *dpe_class_model(enum dpe_class class)
{
	switch (class) {
	case DPE_SEQUENTIAL:
		return "finite state automata";
	case DPE_MULTIPLE:
		return "a subset of k-safe nets";
	case DPE_SAFE:
		return "k-safe nets";
	case DPE_GENERAL:
		return "Petri nets";
	case DPE_EXTENDED:
		return "extended Petri nets";
	}
	return "";
}

const char *dpe_class_name(enum dpe_class class)
{
	static const char *const names[] = {
		"sequential", "multiple", "safe", "general", "extended"};

	return names[class];
}

const char *dpe_pairing_name(enum dpe_pairing pairing)
{
	static const char *const names[] = {
		"fifo", "last", "all", "once", "rounds", "during",
		"exclusive", "shared", "reads", "writes"};

	return names[pairing];
}
