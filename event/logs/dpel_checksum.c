/* CRC-32C by ISA-L, which has an implementation for each processor. */
#include "event/logs/dpel.h"

#include <isa-l/crc.h>

#define MAX_BYTES (1u << 30) /* its length is an int */

uint32_t dpe_dpel_checksum(uint32_t crc, const void *bytes, size_t len)
{
	/* It only reads, although its parameter is not const. */
	unsigned char *at = (unsigned char *)bytes;

	crc = ~crc;
	for (; len > MAX_BYTES; at += MAX_BYTES, len -= MAX_BYTES)
		crc = crc32_iscsi(at, MAX_BYTES, crc);
	return ~crc32_iscsi(at, (int)len, crc);
}
