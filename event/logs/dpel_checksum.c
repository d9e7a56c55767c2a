/* CRC-32C, by a library that has it for each processor. */
#include "event/logs/dpel.h"

#include <isa-l/crc.h>

#define MOST (1u << 30) /* it counts bytes in an int */

uint32_t dpe_dpel_checksum(uint32_t crc, const void *bytes, size_t len)
{
	/* It only reads, though it does not say so. */
	unsigned char *at = (unsigned char *)bytes;

	crc = ~crc;
	for (; len > MOST; at += MOST, len -= MOST)
		crc = crc32_iscsi(at, MOST, crc);
	return ~crc32_iscsi(at, (int)len, crc);
}
