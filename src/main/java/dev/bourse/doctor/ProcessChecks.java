package dev.bourse.doctor;

import dev.bourse.edge.EdgeConfig;
import dev.bourse.edge.limits.ProcessLimits;

/** Checks the limits of the process, and the proxies in front of it. */
public final class ProcessChecks {
  private ProcessChecks() {}

  /**
   * Checks that the limit of open files covers the configured limits.
   *
   * @param mostFiles the process's limit of open files
   * @param connections the limit of connections
   * @param readFiles the limit of published files that are read at once
   */
  public static Check openFiles(long mostFiles, int connections, int readFiles) {
    return new Check(
        "open files",
        notes -> {
          long wanted = (long) connections + Math.max(ProcessLimits.OTHER_FILES, readFiles);
          String seen =
              "the limit is %s here; %d connections and the service's own files need up to %d"
                  .formatted(
                      mostFiles == Long.MAX_VALUE ? "unlimited" : String.valueOf(mostFiles),
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

  /** Checks that the settings name the proxy that they imply. */
  public static Check proxies(EdgeConfig edge) {
    return new Check(
        "proxies",
        notes -> {
          boolean isBehind = edge.baseUrl().startsWith("https:") && edge.tls().isEmpty();
          if (isBehind && edge.trustedProxies().isEmpty()) {
            notes.warn(
                """
                base-url is https and the service serves no TLS, so it is behind a proxy, but \
                proxies names none: all clients count as one address, and share its limits\
                """,
                "set proxies to the proxy's address, and have it set X-Forwarded-For");
          } else if (edge.trustedProxies().isEmpty()) {
            notes.skip("none is set: clients are identified by their connection's address");
          } else if (edge.proxyProtocol()) {
            notes.see(
                "only %s may connect, with the client's address in a PROXY header"
                    .formatted(String.join(", ", edge.trustedProxies())));
          } else {
            notes.see(
                "X-Forwarded-For is trusted from " + String.join(", ", edge.trustedProxies()));
          }
        });
  }
}
