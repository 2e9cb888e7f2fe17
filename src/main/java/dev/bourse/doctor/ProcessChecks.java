package dev.bourse.doctor;

import dev.bourse.edge.EdgeConfig;
import dev.bourse.edge.limits.ProcessLimits;

/** Looks at what a process is given, and at what its clients' requests come through. */
public final class ProcessChecks {
  private ProcessChecks() {}

  /**
   * Whether as many files may be open as the settings let be.
   *
   * @param mostFiles how many a process may have open
   * @param connections how many connections are let be
   * @param readFiles how many published files are read at once
   */
  public static Check openFiles(long mostFiles, int connections, int readFiles) {
    return new Check(
        "open files",
        notes -> {
          long wanted = (long) connections + Math.max(ProcessLimits.OTHER_FILES, readFiles);
          String seen =
              "%s may be open here, and %d connections with what is beside them take up to %d"
                  .formatted(
                      mostFiles == Long.MAX_VALUE ? "any number" : String.valueOf(mostFiles),
                      connections,
                      wanted);
          if (mostFiles < wanted) {
            notes.warn(
                seen,
                """
                raise the limit of the service (LimitNOFILE of its unit, ulimit -n of a shell) to %d, \
                or lower limits.connections; the limit seen is that of this command\
                """
                    .formatted(wanted));
          } else {
            notes.see(seen);
          }
        });
  }

  /** Whether what stands before the service is known to it, as far as the settings tell. */
  public static Check proxies(EdgeConfig edge) {
    return new Check(
        "proxies",
        notes -> {
          boolean isBehind = edge.baseUrl().startsWith("https:") && edge.tls().isEmpty();
          if (isBehind && edge.trustedProxies().isEmpty()) {
            notes.warn(
                """
                base-url is https and the service speaks no TLS, so a proxy stands before it, but \
                proxies names none: all clients count as one address, and share its limits\
                """,
                "name the proxy's address in proxies, and have it set X-Forwarded-For");
          } else if (edge.trustedProxies().isEmpty()) {
            notes.skip("none is named: clients are known by the address they come from");
          } else if (edge.proxyProtocol()) {
            notes.see(
                "%s alone may connect, and tell in a PROXY header whose a connection is"
                    .formatted(String.join(", ", edge.trustedProxies())));
          } else {
            notes.see("X-Forwarded-For is believed of " + String.join(", ", edge.trustedProxies()));
          }
        });
  }
}
