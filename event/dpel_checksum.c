/* CRC-32C: by the processor where it knows how, else by a table. */
#include "event/dpel.h"

#define POLYNOMIAL 0x82f63b78u

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t add_fast(
	uint32_t crc, const unsigned char *at, size_t len)
{
	uint64_t wide = crc, word;

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	while (len--)
		crc = __builtin_ia32_crc32qi(crc, *at++);
	return crc;
}
#endif

static uint32_t add_slowly(uint32_t crc, const unsigned char *at, size_t len)
{
	uint32_t table[256];

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
	return crc;
}

uint32_t dpe_dpel_checksum(uint32_t crc, const void *bytes, size_t len)
{
	crc = ~crc;
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return ~add_fast(crc, bytes, len);
#endif
	return ~add_slowly(crc, bytes, len);
}
