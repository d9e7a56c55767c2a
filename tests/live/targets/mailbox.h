/* mailbox: hands a message from thread to thread. */
void post(const char *kind, void *what);
void *look(const char *kind); /* NULL: none yet */
