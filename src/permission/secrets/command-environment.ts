import type { Environment } from "../../system/env.ts";
import { wordSet } from "../match-text.ts";
import { hasUrlLogin, isCredentialName, replaceTokens } from "./create-redaction.ts";

/** The user's settings for the variables of commands. */
export interface CommandEnvironmentOptions {
  /**
   * Names to pass besides the built-in ones. An exact name passes any value, even a credential; one ending in
   * `*` stands for all with that prefix, except credentials.
   */
  readonly pass?: readonly string[] | undefined;
  /** Variables with values, for commands only. */
  readonly set?: { readonly [name: string]: string } | undefined;
}

/** The variables commands see, and the names of those that were withheld. */
export interface CommandEnvironment {
  readonly variables: { readonly [name: string]: string };
  readonly withheld: readonly string[];
}

/** Variables that most programs need, mainly paths and display settings, and those of tool chains. */
const PASSED = wordSet(`
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TERM_PROGRAM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES
  TZ TMPDIR TMP TEMP HOSTNAME PWD OLDPWD SHLVL MAIL DISPLAY WAYLAND_DISPLAY XAUTHORITY SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS CI
  CONTINUOUS_INTEGRATION BUILD_NUMBER RUNNER_OS RUNNER_TEMP RUNNER_ARCH DEBUG VERBOSE MANPATH INFOPATH LS_COLORS LESS GREP_COLORS
  DEBIAN_FRONTEND SOURCE_DATE_EPOCH EDITOR VISUAL PAGER KUBECONFIG WSL_DISTRO_NAME MSYSTEM
  HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY http_proxy https_proxy all_proxy ftp_proxy no_proxy
  SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE AWS_CA_BUNDLE
  CC CXX CPP LD AR AS NM RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS MAKE MAKEFLAGS MAKELEVEL CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
  LIBRARY_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR ACLOCAL_PATH
  MACOSX_DEPLOYMENT_TARGET SDKROOT DEVELOPER_DIR CLASSPATH ANT_HOME M2_HOME MAVEN_HOME MAVEN_OPTS SBT_OPTS JVM_OPTS VIRTUAL_ENV
  VIRTUAL_ENV_PROMPT PIPENV_VENV_IN_PROJECT RUBYOPT RUBYLIB RVM_PATH MIX_ENV RACK_ENV RAILS_ENV APP_ENV FLASK_ENV DJANGO_SETTINGS_MODULE
  SystemRoot SYSTEMROOT SystemDrive ComSpec COMSPEC PATHEXT Path APPDATA LOCALAPPDATA ProgramFiles ProgramData ProgramW6432 PROGRAMFILES
  PROGRAMDATA USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH windir WINDIR NUMBER_OF_PROCESSORS OS PUBLIC ALLUSERSPROFILE
  LC_* XDG_* NVM_* FNM_* VOLTA_* N_PREFIX* ASDF_* MISE_* NODE_* NPM_CONFIG_* npm_config_* npm_package_* npm_lifecycle_* npm_node_*
  COREPACK_* PNPM_* YARN_* BUN_* DENO_* GO* CGO_* CARGO_* RUST* JAVA_* JDK_* JRE_* GRADLE_* SDKMAN_* KOTLIN_* ANDROID_* PYTHON* PYENV_*
  PIP_* PIPX_* UV_* POETRY_* CONDA_* MAMBA_* PYTEST_* TOX_* RUBY_* GEM_* BUNDLE_* RBENV_* PHP_* COMPOSER_* DOTNET_* NUGET_* MSBUILD* SWIFT_*
  HEX_* REBAR_* ERL_* OPAM* OCAML* GHC* STACK_* CABAL_* PERL* LUA_* NIX_* HOMEBREW_* CMAKE_* NINJA_* MESON* CCACHE_* SCCACHE_* VCPKG_*
  CONAN_* BAZEL* TURBO_* PLAYWRIGHT_* PUPPETEER_* CYPRESS_* SELENIUM_* VITEST* JEST_* DOCKER_* COMPOSE_* BUILDKIT_* MINIKUBE_* KIND_*
  VAGRANT_* GIT_* GITHUB_* GITLAB_* CI_* NANO_AGENT_* PROCESSOR_* ProgramFiles* CommonProgram*`);

/**
 * The environment of commands: variables that tool chains need, by name, except those that hold credentials
 * (by name, by the shape of their value, or in an address). Everything else is withheld, so that a command
 * cannot leak what it never got.
 */
export function commandEnvironment(
  environment: Environment,
  options: CommandEnvironmentOptions = {},
): CommandEnvironment {
  const passed = new Set(options.pass);
  const families = [...PASSED, ...passed].flatMap((name) => (name.endsWith("*") ? [name.slice(0, -1)] : []));
  const variables: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    const isWanted = PASSED.has(name) || families.some((prefix) => name.startsWith(prefix));
    if (passed.has(name) || (isWanted && !holdsCredential(name, value))) variables[name] = value;
    else withheld.push(name);
  }
  return { variables: { ...variables, ...options.set }, withheld };
}

function holdsCredential(name: string, value: string): boolean {
  if (isCredentialName(name)) return true;
  // Bundler stores a server's login under the server's name.
  if (name.startsWith("BUNDLE_") && name.includes("__") && value.includes(":")) return true;
  // A proxy may omit `http://`; anything before the `@` is a login.
  if (/_proxy$/i.test(name) && name.toUpperCase() !== "NO_PROXY" && value.includes("@")) return true;
  return hasUrlLogin(value) || replaceTokens(value, () => "") !== value;
}
