/* What runs before main on a Cortex-M4F, and tells the emulator how main ended (Arm's semihosting:
   a breakpoint with the operation in r0 and its argument in r1). */
#include <stdint.h>

extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[], stack_top[];
int main(void);
void start(void);

static void semihost(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

/* SYS_WRITE0: qemu writes it to its standard error. */
void put(const char *text);
void put(const char *text) { semihost(0x04, text); }

static void leave(uint32_t status) {
  const uint32_t how[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, status};
  for (;;) semihost(0x20 /* SYS_EXIT_EXTENDED */, how);
}

static void fault(void) {
  put("a fault of the processor\n");
  leave(99);
}

void start(void) {
  volatile uint32_t *const access = (volatile uint32_t *)0xE000ED88u; /* CPACR */
  const uint32_t *from = data_load;
  uint32_t *to;
  *access |= 0xFu << 20; /* the floating-point unit is off until then */
  __asm__ volatile("dsb\n\tisb");
  for (to = data_begin; to < data_end; ++to) *to = *from++;
  for (to = bss_begin; to < bss_end; ++to) *to = 0;
  leave((uint32_t)main());
}

/* The stack, the entry, and what the processor calls on faults. */
__attribute__((section(".vectors"), used)) static const void *const vectors[7] = {
    stack_top,           (const void *)start, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault};
