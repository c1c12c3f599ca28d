import { registerHooks } from "node:module";

const OWN = /^nano-agent(\/|$)/;

/**
 * Has whoever imports `nano-agent`, or an entry of it, where it is not installed beside them get this one:
 * the command is mostly installed elsewhere than its extensions lie. Holds until the result is called.
 */
export function lendOwnPackage(): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (!OWN.test(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        // A package may import itself by its name.
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
  return () => hooks.deregister();
}
