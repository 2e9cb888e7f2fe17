package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Settings;
import dev.bourse.edge.limits.SharedBudgetConfig;
import dev.bourse.testing.Certificates;
import dev.bourse.world.Yaml;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings that keep the service from starting, and their error messages. */
class ConfigFaultsTest extends ConfigFixture {
  @Test
  void publishedBytesComeFromAnotherHostThanPages() {
    assertTrue(
        faults(
                Map.of(
                    "base-url",
                    "https://x.example",
                    "checkpoints.content-url",
                    "https://X.example:8443"),
                Map.of())
            .get(0)
            .contains("another host than base-url's, x.example"));
    assertTrue(
        faults(Map.of("checkpoints.content-url", "https://files.example/"), Map.of())
            .get(0)
            .startsWith("checkpoints.content-url: "));
  }

  @Test
  void whoeverSpeaksTlsIsNotCalledByHttp(@TempDir Path folder) throws Exception {
    Map<String, String> values = new LinkedHashMap<>();
    for (String setting : Certificates.make("EC", 30).write(folder)) {
      values.put(setting.split("=", 2)[0], setting.split("=", 2)[1]);
    }
    values.put("base-url", "https://x.example");
    assertTrue(config(values).edge().tls().isPresent());
    values.put("base-url", "http://x.example");
    assertEquals(
        List.of(
            "base-url: 'http://x.example' is not acceptable; expected an https:// address, because"
                + " tls.cert is set"),
        faults(values, Map.of()));
    values.put("base-url", "");
    values.remove("tls.key");
    assertTrue(faults(values, Map.of()).get(0).startsWith("tls.key: '' is not acceptable"));
  }

  @Test
  void whoTakesTheProxyProtocolKnowsItsProxies() throws Exception {
    assertEquals(
        List.of(
            "proxies: '' is not acceptable; expected the addresses of the connecting proxies,"
                + " because proxy.protocol is true"),
        faults(Map.of("proxy.protocol", "true"), Map.of()));
    assertTrue(
        config(Map.of("proxy.protocol", "true", "proxies", "10.0.0.1")).edge().proxyProtocol());
  }

  @Test
  void everyFaultAndUnknownKeyIsNamedInOneGo() {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("port", "70000");
    values.put("market.tick", "soon");
    values.put("market.lease", "1ms");
    values.put("billing.hold-enforced", "yes");
    values.put("nodes.simulated.failure-rate", "1.5");
    values.put("base-url", "https://x.example/");
    values.put("store.url", "oracle");
    values.put("limits.shared-url", "redis://app:hidden@cache.example/one");
    values.put("limits.shared-password-file", "/nowhere/password");
    values.put("limits.shared-timeout", "2s");
    values.put("event-loop", "3");
    values.put("nodes.ssh.identity-file", "/etc/id");

    List<String> faults = faults(values, Map.of("BOURSE_MARKET_TOCK", "1"));

    for (String part :
        List.of(
            "port: '70000'",
            "market.tick: 'soon'",
            "market.lease: '1ms'",
            "billing.hold-enforced: 'yes'",
            "nodes.simulated.failure-rate: '1.5'",
            "slash",
            "store.url: 'oracle'",
            "limits.shared-url: 'redis://app:***@cache.example/one' is not acceptable",
            "limits.shared-password-file: '/nowhere/password'",
            "limits.shared-timeout: '2s'",
            "event-loop: no such setting",
            "BOURSE_MARKET_TOCK: no such setting")) {
      assertTrue(
          faults.stream()
              .anyMatch(f -> f.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT))),
          part + " in " + faults);
    }
    assertEquals(12, faults.size(), faults.toString());
    assertFalse(faults.toString().contains("hidden"), faults.toString());
  }

  @Test
  void theAddressOfTheSharedBudgetsIsASchemeAHostAndNoMoreThanItMayHave(@TempDir Path folder)
      throws Exception {
    assertEquals(
        new SharedBudgetConfig("::1", 6_379, false, 0, "", "", 50),
        shared(Map.of("limits.shared-url", "redis://[::1]")));
    assertEquals(
        new SharedBudgetConfig("h", 1, false, 0, "a b", "p+:@", 50),
        shared(Map.of("limits.shared-url", "redis://a%20b:p+:%40@h:1/")));
    Path password = Files.writeString(folder.resolve("password"), "of the file\n");
    assertEquals(
        new SharedBudgetConfig("h", 6_379, false, 0, "", "of the file", 50),
        shared(
            Map.of(
                "limits.shared-url",
                "redis://:own@h",
                "limits.shared-password-file",
                password.toString())));
    for (String url :
        List.of(
            "cache.example:6379",
            "http://cache.example",
            "redis://",
            "redis://:6379",
            "redis://h:0",
            "redis://h:70000",
            "redis://h/one",
            "redis://h/-1",
            "redis://h/1/2",
            "redis://h?timeout=1s",
            "redis://h%zz")) {
      List<String> faults = faults(Map.of("limits.shared-url", url), Map.of());
      assertEquals(1, faults.size(), faults.toString());
      assertTrue(faults.get(0).startsWith("limits.shared-url: '" + url + "'"), faults.get(0));
    }
  }

  @Test
  void recordsAreKeptForADayAtLeast() {
    List<String> faults = faults(Map.of("retention.reads", "90"), Map.of());

    assertEquals(1, faults.size(), faults.toString());
    assertTrue(faults.get(0).contains("retention.reads: 'PT1M30S'"), faults.get(0));
    assertTrue(faults.get(0).contains("at least 1d"), faults.get(0));
  }

  @Test
  void aProxyThatIsNoIpAddressIsAFault() throws Config.InvalidConfigException {
    assertEquals(
        Set.of("::1", "10.0.0.1", "10.244.0.0/16", "fd00::/8"),
        config(Map.of("proxies", "::1,10.0.0.1 10.244.0.0/16, fd00::/8")).edge().trustedProxies());
    for (String proxy :
        List.of(
            "lb.example",
            "10.0.0.256",
            "1::2::3",
            "10.1",
            "0.0.0.0/0",
            "10.0.0.0/33",
            "::ffff:10.0.0.0/104",
            "10.0/8",
            "fd00::/129",
            "10.0.0.0/",
            "10.0.0.0/08")) {
      List<String> faults = faults(Map.of("proxies", proxy), Map.of());
      assertEquals(1, faults.size(), faults.toString());
      assertTrue(faults.get(0).startsWith("proxies: '" + proxy + "'"), faults.get(0));
    }
  }

  @Test
  void aBaseUrlIsSchemeHostAndPortAlone() throws Config.InvalidConfigException {
    for (String url : List.of("http://x", "https://x.example:8443", "http://[::1]:8080")) {
      assertEquals(url, config(Map.of("base-url", url)).edge().baseUrl());
    }
    for (String url :
        List.of(
            "x.example",
            "ftp://x.example",
            "https://",
            "https://x.example/api",
            "https://x.example?a",
            "https://x.example#a",
            "https://u@x.example",
            "https://x.example\r\nx: y",
            "https://x.example; script-src *")) {
      List<String> faults = faults(Map.of("base-url", url), Map.of());
      assertTrue(faults.get(0).startsWith("base-url: "), faults.toString());
    }
  }

  @Test
  void faultsOfTheFileAndOfItsSettingsAreReportedTogether() {
    Config.InvalidConfigException faulty =
        assertThrows(
            Config.InvalidConfigException.class,
            () ->
                Config.from(
                    new Settings(Map.of("port", "x"), Map.of()), DATA, List.of("c: x: a list")));
    String message = String.valueOf(faulty.getMessage());
    assertTrue(message.contains("c: x: a list") && message.contains("port: 'x'"), message);
  }

  @Test
  void nestedYamlIsDottedKeysAndListsAreFaults() throws IOException {
    List<String> faults = new ArrayList<>();
    Map<String, String> flat =
        Yaml.read(
                "c",
                new StringReader("market: {tick: 5s, deep: {er: 1}}\nport: 0\nx: [1]\nnone:\n"),
                faults)
            .flat();

    assertEquals(Map.of("market.tick", "5s", "market.deep.er", "1", "port", "0"), flat);
    assertEquals(List.of("c: x: a list is not a setting"), faults);
  }
}
