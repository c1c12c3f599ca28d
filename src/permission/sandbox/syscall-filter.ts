/** The system call numbers of one architecture. */
interface Architecture {
  /** Its name in the kernel's audit records. */
  readonly audit: number;
  readonly socket: number;
  readonly socketPair: number;
  /** `add_key`, `request_key` and `keyctl` follow each other. */
  readonly firstKeyCall: number;
}

const ARCHITECTURES: { readonly [arch: string]: Architecture } = {
  x64: { audit: 0xc000003e, socket: 41, socketPair: 53, firstKeyCall: 248 },
  arm64: { audit: 0xc00000b7, socket: 198, socketPair: 199, firstKeyCall: 217 },
};

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16] as const;
const SOCK_DGRAM = 2;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97] as const;
/** `io_uring_setup`, `io_uring_enter` and `io_uring_register`: they make sockets without `socket()`. */
const [FIRST_URING, LAST_URING] = [425, 427] as const;
/** Calls of the x32 architecture have this bit. */
const X32 = 0x40000000;

const [ALLOW, KILL] = [0x7fff0000, 0x80000000] as const;
const refuse = (errno: number): number => 0x00050000 | errno;

/** Offsets in what the kernel shows the filter. */
const [NUMBER, ARCH, FIRST_ARGUMENT, SECOND_ARGUMENT] = [0, 4, 16, 24] as const;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const and = (value: number): Instruction => [0x54, 0, 0, value];
const ifEqual = (value: number, ifTrue: number, ifFalse: number): Instruction => [
  0x15,
  ifTrue,
  ifFalse,
  value,
];
const ifAtLeast = (value: number, ifTrue: number, ifFalse: number): Instruction => [
  0x35,
  ifTrue,
  ifFalse,
  value,
];
const end = (verdict: number): Instruction => [0x06, 0, 0, verdict];

/**
 * The seccomp program for bubblewrap, as bytes; `undefined` for an architecture without one. Sockets are of
 * the Internet, netlink and, without the network of the host, UNIX: other families lead to the host of a
 * virtual machine. With that network UNIX sockets are refused too, for abstract ones belong to it.
 */
export function syscallFilter(
  arch: string,
  { network }: { readonly network: boolean },
): Uint8Array | undefined {
  const calls = ARCHITECTURES[arch];
  if (calls === undefined) return undefined;
  const families = network ? [AF_INET, AF_INET6, AF_NETLINK] : [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];
  return bytesOf([
    load(ARCH),
    ifEqual(calls.audit, 1, 0),
    end(KILL),
    ...refuseCalls(X32, 0xffffffff, ENOSYS),
    ...refuseCalls(FIRST_URING, LAST_URING, ENOSYS),
    ...refuseCalls(calls.firstKeyCall, calls.firstKeyCall + 2, EPERM),
    load(NUMBER),
    ifEqual(calls.socket, 0, families.length + 2),
    load(FIRST_ARGUMENT),
    ...families.map((family, index) => ifEqual(family, families.length - index, 0)),
    end(refuse(EAFNOSUPPORT)),
    ...(network ? refuseDatagramPairs(calls.socketPair) : []),
    end(ALLOW),
  ]);
}

function refuseCalls(first: number, last: number, errno: number): readonly Instruction[] {
  const isAbove = last === 0xffffffff ? [] : [ifAtLeast(last + 1, 1, 0)];
  return [load(NUMBER), ifAtLeast(first, 0, isAbove.length + 1), ...isAbove, end(refuse(errno))];
}

/** One end of such a pair can send to any name. */
function refuseDatagramPairs(socketPair: number): readonly Instruction[] {
  return [
    load(NUMBER),
    ifEqual(socketPair, 0, 4),
    load(SECOND_ARGUMENT),
    and(0xf),
    ifEqual(SOCK_DGRAM, 0, 1),
    end(refuse(EAFNOSUPPORT)),
  ];
}

function bytesOf(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(view.buffer);
}
