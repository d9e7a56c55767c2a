# dpe race warns if a program maps one file at two addresses: it does not compare their accesses.
. tests/tap.sh
need_live 'files that are mapped twice'
cat >maps.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int *first, *second;
static void *write_second(void *with)
{
	second[0] = 2;
	return with;
}
int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int file = memfd_create("pages", 0), other = memfd_create("others", 0);
	pthread_t thread;
	if (ftruncate(file, 8192) || ftruncate(other, 8192))
		return 1;
	first = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (!strcmp(way, "unmapped"))
		munmap(first, 8192);
	if (!strcmp(way, "parts"))
		second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 4096);
	else if (!strcmp(way, "private"))
		second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	else
		second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 4096);
	pthread_create(&thread, NULL, write_second, NULL);
	if (strcmp(way, "unmapped"))
		first[1024] = 1; /* where `second` is, if it is the same file */
	pthread_join(thread, NULL);
	return 0;
}
END
gcc -fsanitize=thread -g -O1 -c maps.c && gcc maps.o -o maps -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building maps'
run "$DPE" race -- ./maps
says 'two mappings of a part of a file are reported in one line' 0 'warning: the program maps a file at two addresses' ' 0 lost'
check 'it is one line' "$(grep -c 'maps a file' err)" -eq 1
for way in parts private unmapped; do
	run "$DPE" race -- ./maps $way
	says "no two mappings of the same memory ($way): no warning" 0 'nothing found' ' 0 lost'
	check "$way: no warning" "$(grep -c 'maps a file' err)" -eq 0
done
