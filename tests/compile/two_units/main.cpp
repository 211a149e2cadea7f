// R197: every header in two translation units.
int first();
int second();

int main() { return first() + second() == 3 ? 0 : 1; }
