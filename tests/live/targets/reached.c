/* reached: structures that arguments lead to. */
#include <stdio.h>
#include <stdlib.h>

struct item {
	struct item *next;
	double price;
	int weights[3];
	unsigned char kind;
};

struct list {
	long len;
	struct item *head;
	union {
		short small;
		int large;
	} extra;
};

#define OWN __attribute__((noipa))

OWN static int enqueue(struct list *list, struct item *item)
{
	item->next = list->head;
	list->head = item;
	return (int)++list->len;
}

OWN static int weigh(int number, const struct item *item)
{
	return number * item->weights[1];
}

OWN static int seventh(int a, int b, int c, int d, int e, int f, struct list *list)
{
	return a + b + c + d + e + f + (int)list->len;
}

OWN static int plain(int number)
{
	return number;
}

OWN static struct item *first(const struct list *list)
{
	return list->head;
}

int main(void)
{
	struct list *one = calloc(1, sizeof(*one)), *two = calloc(1, sizeof(*two));
	int sum = 0;

	two->extra.large = 70000;
	for (int i = 0; i < 4; i++) {
		struct item *item = calloc(1, sizeof(*item));

		item->price = i + 0.5;
		item->weights[1] = -i;
		item->kind = (unsigned char)(200 + i);
		sum += enqueue(i % 2 ? one : two, item) + weigh(i, item);
		sum += first(one) ? 0 : 1;
	}
	sum += seventh(1, 2, 3, 4, 5, 6, two) + plain(1) + enqueue(two, &(struct item){0});
	printf("%d\n", sum + (weigh(0, one->head) != 0));
	return 0;
}
