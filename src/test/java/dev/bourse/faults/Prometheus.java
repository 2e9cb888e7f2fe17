package dev.bourse.faults;

import dev.bourse.core.Ports;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Debian's Prometheus on loopback, with a configuration and a folder of this run's own. */
final class Prometheus {
  private static final Path PROGRAM = Path.of("/usr/bin/prometheus");

  private static final int START_SECONDS = 60;

  private final String url;

  /**
   * Starts it.
   *
   * @param folder where it keeps what it keeps
   * @param rules the text of its rules
   * @param ports the management ports of the processes that it scrapes
   */
  Prometheus(Path folder, String rules, Collection<Integer> ports) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("alerts.yaml"), rules);
    String targets =
        ports.stream().map(port -> "'127.0.0.1:" + port + "'").collect(Collectors.joining(", "));
    Path config = folder.resolve("prometheus.yaml");
    Files.writeString(
        config,
        """
        global:
          scrape_interval: %1$ds
          scrape_timeout: %1$ds
          evaluation_interval: %1$ds
        rule_files: [alerts.yaml]
        scrape_configs:
          - job_name: bourse
            static_configs: [{targets: [%2$s]}]
        """
            .formatted(AlertRules.SCRAPE_SECONDS, targets));
    String address = "127.0.0.1:" + Ports.free();
    url = "http://" + address;
    Path log = folder.resolve("prometheus.log");
    Process process =
        new ProcessBuilder(
                PROGRAM.toString(),
                "--config.file=" + config,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=" + address)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    Processes.atEnd(process::destroy);
    FaultWorld.until(
        "Prometheus is ready; see " + log,
        START_SECONDS,
        () -> {
          if (!process.isAlive()) {
            throw new ViolatedException("Prometheus ended at its start; see " + log);
          }
          try {
            return Http.send(url, "GET", "/-/ready", "nobody", null).isOk();
          } catch (IOException notYet) {
            return false;
          }
        });
  }

  /** Why there is none; empty when there is. */
  static String missing() {
    return Files.isExecutable(PROGRAM) ? "" : "there is no " + PROGRAM + "; install prometheus";
  }

  /** The alerts that fire now. */
  Set<String> firing() {
    Set<String> firing = new TreeSet<>();
    for (Object one : ask("/api/v1/alerts").getJsonArray("alerts")) {
      JsonObject alert = (JsonObject) one;
      if (alert.getString("state").equals("firing")) {
        firing.add(alert.getJsonObject("labels").getString("alertname"));
      }
    }
    return firing;
  }

  /** Whether it has scraped each process at least once. */
  boolean hasScrapedAll() {
    JsonArray targets = ask("/api/v1/targets").getJsonArray("activeTargets");
    return !targets.isEmpty()
        && targets.stream()
            .allMatch(target -> ((JsonObject) target).getString("health").equals("up"));
  }

  /** Whether it has looked at every rule, and none holds, not even since just now. */
  boolean isQuiet() {
    JsonArray groups = ask("/api/v1/rules").getJsonArray("groups");
    for (Object group : groups) {
      for (Object one : ((JsonObject) group).getJsonArray("rules")) {
        JsonObject rule = (JsonObject) one;
        if (rule.getString("health").equals("err")) {
          throw new ViolatedException("a rule cannot be looked at: " + rule.encode());
        }
        if (!rule.getString("health").equals("ok") || !rule.getString("state").equals("inactive")) {
          return false;
        }
      }
    }
    return !groups.isEmpty();
  }

  private JsonObject ask(String path) {
    return Http.ok(url, "GET", path, "nobody", null).getJsonObject("data");
  }
}
