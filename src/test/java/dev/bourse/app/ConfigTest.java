package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.core.Settings;
import dev.bourse.edge.limits.DownloadPace;
import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.nodes.IdRange;
import dev.bourse.org.ScimConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The mapping of settings to a process's configuration. */
class ConfigTest extends ConfigFixture {
  @Test
  void defaultsAreTheDocumentedOnes() throws Config.InvalidConfigException {
    Config config = config(Map.of());

    assertEquals(Runtime.getRuntime().availableProcessors(), config.eventLoops());
    assertEquals(8080, config.edge().port());
    assertEquals(8081, config.management().port());
    assertEquals("127.0.0.1", config.edge().host());
    assertEquals("127.0.0.1", config.management().host());
    assertEquals(300, config.edge().requestsPerMinute());
    assertEquals(1_200, config.edge().edgePerMinute());
    assertEquals(300, config.edge().edgeBurst());
    assertEquals(Set.of(), config.edge().trustedProxies());
    assertEquals(300_000, config.audit().sealIntervalMillis());
    assertEquals(Duration.ofDays(90).toMillis(), config.audit().readsMillis());
    assertEquals(0, config.audit().writesMillis());
    assertEquals(Duration.ofDays(400).toMillis(), config.audit().activityMillis());
    assertEquals(3_600_000, config.audit().retentionIntervalMillis());
    assertEquals(5_000, config.capacity().cadenceMillis());
    assertEquals(3_600_000, config.capacity().swapFreshnessMillis());
    assertEquals(10_000, config.market().tickMillis());
    assertEquals(3_600_000, config.market().protectionMillis());
    assertEquals(120_000, config.market().noticeMillis());
    assertEquals(10_000, config.market().leaseMillis());
    assertEquals(300_000, config.market().probeIntervalMillis());
    assertEquals(0, config.simulated().failureRate());
    assertEquals(
        new CheckpointConfig(
            true,
            32L << 20,
            50L << 30,
            200L << 30,
            200L << 30,
            "Bourse",
            "",
            7L * 86_400_000,
            60_000,
            60_000,
            512,
            false),
        config.checkpoints());
    assertEquals(new DownloadPace(16_384, 30_000), config.edge().limits().pace());
    assertEquals(Optional.empty(), config.ssh());
    assertEquals(Optional.empty(), config.sharedBudgets());
    assertEquals(Optional.empty(), config.scim());
    assertEquals(Optional.empty(), config.world());
  }

  @Test
  void everyKeyReachesItsField() throws Config.InvalidConfigException {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("event-loops", "3");
    values.put("host", "0.0.0.0");
    values.put("port", "90");
    values.put("management.port", "91");
    values.put("base-url", "https://x.example");
    values.put("proxies", "10.0.0.1, 10.0.0.2");
    values.put("proxy.protocol", "true");
    values.put("limits.requests-per-minute", "7");
    values.put("limits.edge-per-minute", "80");
    values.put("limits.edge-burst", "9");
    values.put("limits.shared-url", "rediss://app@cache.example:7000/3");
    values.put("limits.shared-password", "secret");
    values.put("limits.shared-timeout", "20ms");
    values.put("audit.seal-interval", "7s");
    values.put("retention.reads", "2d");
    values.put("retention.writes", "3d");
    values.put("retention.activity", "0");
    values.put("retention.interval", "11s");
    values.put("capacity.write-cadence", "250ms");
    values.put("market.tick", "2");
    values.put("market.protection", "5m");
    values.put("market.notice", "90s");
    values.put("market.lease", "3s");
    values.put("market.swap-freshness", "PT2H");
    values.put("market.gang-patience", "4m");
    values.put("billing.spend-limit-enforced", "true");
    values.put("billing.hold-enforced", "true");
    values.put("checkpoints.enabled", "false");
    values.put("checkpoints.direct-bytes", "1MiB");
    values.put("checkpoints.item-bytes", "2GiB");
    values.put("checkpoints.org-bytes", "12345");
    values.put("checkpoints.platform-bytes", "54321");
    values.put("checkpoints.publisher", "Grid");
    values.put("checkpoints.content-url", "https://files.example");
    values.put("checkpoints.session-lifetime", "3h");
    values.put("checkpoints.sweep-interval", "5s");
    values.put("checkpoints.deletion-delay", "10s");
    values.put("checkpoints.open-files", "64");
    values.put("checkpoints.store", "s3://bourse");
    values.put("checkpoints.redirect", "true");
    values.put("limits.download-rate", "1MiB");
    values.put("limits.download-window", "5s");
    values.put("nodes.probe-interval", "30s");
    values.put("nodes.simulated.provision-delay", "1s");
    values.put("nodes.simulated.reclaim-delay", "0");
    values.put("nodes.simulated.failure-rate", "0.25");
    values.put("nodes.ssh.identity-file", "/etc/id");
    values.put("nodes.ssh.own-ids", "false");
    values.put("nodes.ssh.id-range", "65536-65599");
    values.put("nodes.ssh.check-hardware", "false");
    values.put("nodes.ssh.check-command", "test -e /ok");
    values.put("nodes.ssh.wipe-command", "wipe");
    values.put("nodes.ssh.max-concurrent", "5");
    values.put("store.url", "sqlite");
    values.put("store.compare-interval", "30s");
    values.put("world", "w.yaml");

    Config config = config(values);

    assertEquals(3, config.eventLoops());
    assertEquals("0.0.0.0", config.edge().host());
    assertTrue(config.edge().proxyProtocol());
    assertEquals(90, config.edge().port());
    assertEquals(91, config.management().port());
    assertEquals("https://x.example", config.edge().baseUrl());
    assertEquals(Set.of("10.0.0.1", "10.0.0.2"), config.edge().trustedProxies());
    assertEquals(7, config.edge().requestsPerMinute());
    assertEquals(80, config.edge().edgePerMinute());
    assertEquals(9, config.edge().edgeBurst());
    assertEquals(
        Optional.of(new SharedBudgetConfig("cache.example", 7_000, true, 3, "app", "secret", 20)),
        config.sharedBudgets());
    assertEquals(7_000, config.audit().sealIntervalMillis());
    assertEquals(Duration.ofDays(2).toMillis(), config.audit().readsMillis());
    assertEquals(Duration.ofDays(3).toMillis(), config.audit().writesMillis());
    assertEquals(0, config.audit().activityMillis());
    assertEquals(11_000, config.audit().retentionIntervalMillis());
    assertEquals(250, config.capacity().cadenceMillis());
    assertEquals(7_200_000, config.capacity().swapFreshnessMillis());
    assertEquals(7_200_000, config.market().swapFreshnessMillis());
    assertEquals(240_000, config.market().gangPatienceMillis());
    assertTrue(config.capacity().spendLimitEnforced());
    assertTrue(config.capacity().billingHoldEnforced());
    assertEquals(2_000, config.market().tickMillis());
    assertEquals(300_000, config.market().protectionMillis());
    assertEquals(90_000, config.market().noticeMillis());
    assertEquals(3_000, config.market().leaseMillis());
    assertEquals(30_000, config.market().probeIntervalMillis());
    assertEquals(30_000, config.storeWatch().compareMillis());
    assertEquals(
        new CheckpointConfig(
            false,
            1L << 20,
            2L << 30,
            12_345,
            54_321,
            "Grid",
            "https://files.example",
            3 * 3_600_000L,
            5_000,
            10_000,
            64,
            true),
        config.checkpoints());
    assertEquals(new DownloadPace(1 << 20, 5_000), config.edge().limits().pace());
    assertEquals(1_000, config.simulated().provisionDelayMillis());
    assertEquals(0, config.simulated().reclaimDelayMillis());
    assertEquals(0.25, config.simulated().failureRate());
    assertEquals(Path.of("/etc/id"), config.ssh().orElseThrow().identityFile());
    assertFalse(config.ssh().orElseThrow().hasOwnIds());
    assertEquals(new IdRange(65_536, 65_599), config.ssh().orElseThrow().idRange());
    assertEquals("wipe", config.ssh().orElseThrow().wipeCommand());
    assertFalse(config.ssh().orElseThrow().checksHardware());
    assertEquals("test -e /ok", config.ssh().orElseThrow().checkCommand());
    assertEquals(5, config.ssh().orElseThrow().maxConcurrent());
    assertEquals(Optional.of(Path.of("w.yaml")), config.world());
    assertEquals(DATA, config.data());
  }

  @Test
  void aScimDirectoryHasAUrlATokenAndATimeout(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("token"), " s3cret\n");
    ScimConfig scim =
        config(
                Map.of(
                    "directory.kind", "scim",
                    "directory.timeout", "500ms",
                    "directory.scim.url", "https://id.example/scim/v2",
                    "directory.scim.token-file", file.toString(),
                    "directory.scim.last-login", "urn:x:User:lastLogin"))
            .scim()
            .orElseThrow();
    assertEquals(
        new ScimConfig("https://id.example/scim/v2", "s3cret", 500, "urn:x:User:lastLogin"), scim);
    assertFalse(scim.toString().contains("s3cret"));
    for (String url : List.of("http://localhost:1/scim", "http://127.0.0.1", "http://[::1]:8")) {
      assertEquals(
          url,
          config(Map.of("directory.kind", "scim", "directory.scim.url", url))
              .scim()
              .orElseThrow()
              .url());
    }
    for (String url :
        List.of(
            "",
            "id.example",
            "http://id.example",
            "https://id.example/",
            "ftp://localhost",
            "https://u:p@id.example",
            "https://id.example?a",
            "https://id.example#a",
            "http://127.0.0.1.evil.example")) {
      List<String> faults =
          faults(Map.of("directory.kind", "scim", "directory.scim.url", url), Map.of());
      assertEquals(1, faults.size(), faults.toString());
      assertTrue(faults.get(0).startsWith("directory.scim.url: "), faults.toString());
    }
    List<String> faults =
        faults(
            Map.of(
                "directory.kind", "ldap",
                "directory.timeout", "1ms",
                "directory.scim.tokens", "x"),
            Map.of());
    assertEquals(3, faults.size(), faults.toString());
    List<String> token =
        faults(
            Map.of(
                "directory.kind", "scim",
                "directory.scim.url", "https://id.example",
                "directory.scim.token", "two words"),
            Map.of());
    assertEquals(1, token.size(), token.toString());
    assertFalse(token.get(0).contains("words"), token.get(0));
  }

  @Test
  void aFreePortFreesTheManagementPortTooUnlessItIsSet() throws Config.InvalidConfigException {
    assertEquals(0, config(Map.of("port", "0")).management().port());
    assertEquals(99, config(Map.of("port", "0", "management.port", "99")).management().port());
  }

  @Test
  void theEnvironmentOverridesTheFile() throws Config.InvalidConfigException {
    Config config =
        Config.from(
            new Settings(
                Map.of("market.tick", "2s"),
                Map.of(
                    "BOURSE_MARKET_TICK", "3s", "BOURSE_LIMITS_EDGE_PER_MINUTE", "9", "HOME", "/")),
            DATA,
            List.of());

    assertEquals(3_000, config.market().tickMillis());
    assertEquals(9, config.edge().edgePerMinute());
  }

  @Test
  void variablesOfOtherProgramsAreIgnored() throws Config.InvalidConfigException {
    Map<String, String> environment =
        Map.ofEntries(
            Map.entry("BOURSE_URL", "http://localhost:8080"),
            Map.entry("BOURSE_TOKEN", "brs_x"),
            Map.entry("BOURSE_OPERATOR_TOKEN", "bop_x"),
            Map.entry("BOURSE_PROFILE", "work"),
            Map.entry("BOURSE_CLUSTER", "acme-train"),
            Map.entry("BOURSE_PORT", "tcp://10.0.0.7:8080"),
            Map.entry("BOURSE_SERVICE_HOST", "10.0.0.7"),
            Map.entry("BOURSE_SERVICE_PORT", "8080"),
            Map.entry("BOURSE_SERVICE_PORT_HTTP", "8080"),
            Map.entry("BOURSE_PORT_8080_TCP", "tcp://10.0.0.7:8080"),
            Map.entry("BOURSE_PORT_8080_TCP_ADDR", "10.0.0.7"),
            Map.entry("BOURSE_PORT_8080_TCP_PORT", "8080"),
            Map.entry("BOURSE_PORT_8080_TCP_PROTO", "tcp"));

    Config config = Config.from(new Settings(Map.of(), environment), DATA, List.of());

    assertEquals(
        Config.from(new Settings(Map.of(), Map.of()), DATA, List.of()).edge().port(),
        config.edge().port());
  }
}
