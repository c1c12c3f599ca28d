/** The system calls of an architecture: its audit number, `socket`, `socketpair`, and the first for keys. */
const ARCHITECTURES: { readonly [arch: string]: readonly [number, number, number, number] } = {
  x64: [0xc000003e, 41, 53, 248],
  arm64: [0xc00000b7, 198, 199, 217],
};

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16] as const;
const SOCK_DGRAM = 2;
/** Of UNIX sockets another name for datagrams. */
const SOCK_RAW = 3;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97] as const;
/** `io_uring_setup`, `io_uring_enter` and `io_uring_register`: they make sockets without `socket()`. */
const [FIRST_URING, LAST_URING] = [425, 427] as const;
/** Calls of the x32 architecture have this bit. */
const [FIRST_X32, LAST_X32] = [0x40000000, 0xfffffffe] as const;

/** Offsets in what the kernel shows the filter. */
const [NUMBER, ARCH, FIRST_ARGUMENT, SECOND_ARGUMENT] = [0, 4, 16, 24] as const;

type Instruction = readonly [code: number, value: number, ifTrue: number, ifFalse: number];
const load = (offset: number): Instruction => [0x20, offset, 0, 0];
const and = (value: number): Instruction => [0x54, value, 0, 0];
const ifEqual = (value: number, yes: number, no: number): Instruction => [0x15, value, yes, no];
const ifAtLeast = (value: number, yes: number, no: number): Instruction => [0x35, value, yes, no];
const ALLOW: Instruction = [0x06, 0x7fff0000, 0, 0];
const KILL: Instruction = [0x06, 0x80000000, 0, 0];
const refuse = (errno: number): Instruction => [0x06, 0x00050000 | errno, 0, 0];

/**
 * The seccomp program for bubblewrap, as bytes; throws for an architecture without one. Sockets are of the
 * Internet, netlink and, without the network of the host, UNIX: other families lead to the host of a virtual
 * machine. With that network UNIX sockets are refused too, for abstract ones belong to it.
 */
export function syscallFilter(arch: string, { network }: { readonly network: boolean }): Uint8Array {
  const calls = ARCHITECTURES[arch];
  if (calls === undefined) throw new Error(`no filter for system calls of ${arch}`);
  const [audit, socket, socketPair, firstKeyCall] = calls;
  const families = [...(network ? [] : [AF_UNIX]), AF_INET, AF_INET6, AF_NETLINK];
  const program = [
    load(ARCH),
    ifEqual(audit, 1, 0),
    KILL,
    load(NUMBER),
    ...refuseCalls(FIRST_X32, LAST_X32, ENOSYS),
    ...refuseCalls(FIRST_URING, LAST_URING, ENOSYS),
    // `add_key`, `request_key` and `keyctl` follow each other.
    ...refuseCalls(firstKeyCall, firstKeyCall + 2, EPERM),
    // One end of a pair for datagrams can send to any name.
    ...(network ? [ifEqual(socketPair, 0, 6), load(SECOND_ARGUMENT), and(0xf)] : []),
    ...(network ? [ifEqual(SOCK_DGRAM, 0, 1), refuse(EAFNOSUPPORT)] : []),
    ...(network ? [ifEqual(SOCK_RAW, 0, 1), refuse(EAFNOSUPPORT), load(NUMBER)] : []),
    ifEqual(socket, 0, families.length + 2),
    load(FIRST_ARGUMENT),
    ...families.map((family, index) => ifEqual(family, families.length - index, 0)),
    refuse(EAFNOSUPPORT),
    ALLOW,
  ];
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, value, ifTrue, ifFalse], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(view.buffer);
}

function refuseCalls(first: number, last: number, errno: number): readonly Instruction[] {
  return [ifAtLeast(first, 0, 2), ifAtLeast(last + 1, 1, 0), refuse(errno)];
}
