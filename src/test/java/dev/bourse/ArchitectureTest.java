package dev.bourse;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.bourse.store.Row;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The house: which package may import which. There is no list of exceptions. */
final class ArchitectureTest {
  /**
   * A package and those it may import; {@code app} may import all and is imported by none but its
   * own {@code app.commands}.
   */
  private static final Map<String, List<String>> MAY_IMPORT =
      Map.ofEntries(
          entry("core", List.of()),
          entry("json", List.of("core")),
          entry("schemas", List.of()),
          entry("schemas.common", List.of("json")),
          entry("schemas.billing", List.of("json", "schemas.common")),
          entry("schemas.checkpoints", List.of("json", "schemas.common")),
          entry("schemas.console", List.of("json", "schemas.common")),
          entry("schemas.k8s", List.of("json", "schemas.common")),
          entry("schemas.market", List.of("json")),
          entry("schemas.org", List.of("json", "schemas.common")),
          entry("schemas.operator", List.of("json", "schemas.common")),
          entry("schemas.vm", List.of("json", "schemas.common")),
          entry("signals", List.of()),
          entry("traces", List.of("core")),
          entry("traces.otlp", List.of("core", "signals", "traces")),
          entry("logs", List.of("core", "traces")),
          entry("store", List.of("core", "json", "logs", "signals")),
          entry("store.transfer", List.of("core", "store")),
          entry("store.sqlite", List.of("core", "signals", "store", "store.transfer")),
          entry("store.postgres", List.of("core", "signals", "store", "store.transfer")),
          entry("jobs", List.of("core", "logs", "audit", "signals", "store")),
          entry("keyring", List.of("core", "store", "store.transfer")),
          entry(
              "access",
              List.of(
                  "core", "json", "schemas.common", "store", "store.transfer", "audit", "keyring")),
          entry("audit", List.of("core", "schemas.common", "store")),
          entry("contract", List.of("core", "access")),
          entry("docs", List.of("core", "contract", "pages", "schemas.checkpoints", "signals")),
          entry("edge.limits", List.of("core", "signals")),
          entry("edge.fields", List.of("core")),
          entry("pem", List.of()),
          entry("edge.tls", List.of("core", "pem")),
          entry(
              "edge",
              List.of(
                  "core",
                  "access",
                  "blob",
                  "contract",
                  "docs",
                  "edge.limits",
                  "edge.tls",
                  "json",
                  "logs",
                  "pages",
                  "signals",
                  "traces")),
          entry("nodes", List.of("core", "signals", "traces")),
          entry("blob", List.of("core", "logs", "traces")),
          entry("blob.s3", List.of("core", "blob", "store")),
          entry("pools", List.of("core", "schemas.common")),
          entry(
              "capacity",
              List.of(
                  "core",
                  "json",
                  "logs",
                  "signals",
                  "store",
                  "access",
                  "audit",
                  "edge",
                  "nodes",
                  "pools",
                  "schemas.common",
                  "schemas.k8s",
                  "schemas.vm")),
          entry("pools.settings", List.of("core", "json", "store", "audit", "pools", "capacity")),
          entry(
              "sshkeys",
              List.of(
                  "core", "store", "access", "audit", "edge", "pools", "capacity", "schemas.vm")),
          entry(
              "events",
              List.of(
                  "core",
                  "json",
                  "logs",
                  "store",
                  "access",
                  "audit",
                  "edge",
                  "pools",
                  "capacity",
                  "schemas.common",
                  "schemas.k8s",
                  "schemas.market",
                  "schemas.vm")),
          entry("auction", List.of()),
          entry(
              "market",
              List.of(
                  "core",
                  "auction",
                  "store",
                  "access",
                  "audit",
                  "edge",
                  "logs",
                  "nodes",
                  "pools",
                  "capacity",
                  "schemas.market",
                  "schemas.vm",
                  "sshkeys",
                  "events",
                  "signals")),
          entry(
              "billing",
              List.of(
                  "core",
                  "schemas.billing",
                  "schemas.common",
                  "schemas.console",
                  "store",
                  "access",
                  "audit",
                  "edge",
                  "nodes",
                  "pools",
                  "capacity",
                  "market")),
          entry(
              "hardware",
              List.of(
                  "core", "access", "edge", "pools", "capacity", "schemas.vm", "json", "signals")),
          entry(
              "org",
              List.of("core", "schemas.common", "schemas.org", "store", "access", "audit", "edge")),
          entry("remote", List.of("pem")),
          entry(
              "world",
              List.of(
                  "core",
                  "store",
                  "access",
                  "audit",
                  "nodes",
                  "pools",
                  "pools.settings",
                  "capacity",
                  "sshkeys",
                  "market",
                  "billing",
                  "org")),
          entry("command", List.of("contract", "remote")),
          entry("admin", List.of("contract", "remote", "command")),
          entry(
              "client",
              List.of(
                  "contract",
                  "command",
                  "client.account",
                  "client.capacity",
                  "client.checkpoint",
                  "client.ssh",
                  "client.trail",
                  "client.transfer")),
          entry("client.account", List.of("core", "remote", "command", "client.transfer")),
          entry(
              "client.capacity",
              List.of("core", "remote", "command", "client.account", "client.transfer")),
          entry(
              "client.checkpoint", List.of("core", "remote", "client.account", "client.transfer")),
          entry(
              "client.ssh",
              List.of(
                  "core",
                  "remote",
                  "command",
                  "client.account",
                  "client.capacity",
                  "client.transfer")),
          entry("client.trail", List.of("core", "audit", "remote", "command", "client.account")),
          entry("client.transfer", List.of("core", "remote")),
          entry("pages", List.of("core")),
          entry("mail", List.of("core", "delivery", "jobs", "signals", "store", "keyring")),
          entry(
              "signin",
              List.of("core", "logs", "store", "access", "audit", "edge", "org", "pages", "mail")),
          entry("outbound", List.of("core")),
          entry(
              "oauth",
              List.of(
                  "core",
                  "store",
                  "access",
                  "audit",
                  "edge",
                  "schemas.console",
                  "outbound",
                  "pages",
                  "signin")),
          entry(
              "delivery",
              List.of("core", "access", "audit", "jobs", "store", "keyring", "outbound", "traces")),
          entry(
              "webhooks",
              List.of(
                  "core",
                  "json",
                  "schemas.common",
                  "schemas.console",
                  "signals",
                  "store",
                  "access",
                  "audit",
                  "delivery",
                  "edge",
                  "edge.fields",
                  "jobs",
                  "keyring",
                  "mail",
                  "outbound",
                  "pools",
                  "capacity",
                  "events",
                  "billing",
                  "traces")),
          entry(
              "notifications",
              List.of(
                  "core",
                  "store",
                  "access",
                  "audit",
                  "capacity",
                  "edge",
                  "events",
                  "mail",
                  "pages",
                  "signin",
                  "webhooks")),
          entry(
              "trailstream",
              List.of(
                  "core",
                  "schemas.console",
                  "signals",
                  "store",
                  "access",
                  "audit",
                  "blob.s3",
                  "delivery",
                  "edge",
                  "jobs",
                  "keyring",
                  "mail",
                  "traces")),
          entry("secrets", List.of("core")),
          entry(
              "uploads",
              List.of(
                  "core",
                  "schemas.checkpoints",
                  "schemas.common",
                  "access",
                  "blob",
                  "checkpoint",
                  "edge",
                  "secrets")),
          entry(
              "checkpoint",
              List.of(
                  "core",
                  "schemas.checkpoints",
                  "schemas.common",
                  "signals",
                  "store",
                  "access",
                  "audit",
                  "blob",
                  "edge",
                  "secrets")),
          entry("walk", List.of("store", "blob", "checkpoint")),
          entry("scrub", List.of("core", "store", "blob", "checkpoint", "walk")),
          entry("move", List.of("core", "store", "blob", "checkpoint", "walk")),
          entry(
              "feed",
              List.of(
                  "core", "schemas.checkpoints", "schemas.common", "checkpoint", "edge", "pages")),
          entry("install", List.of("core", "blob", "edge", "pages")),
          entry("roadmap", List.of("edge", "world")),
          entry(
              "scrape",
              List.of(
                  "access",
                  "billing",
                  "capacity",
                  "edge",
                  "hardware",
                  "nodes",
                  "pools",
                  "schemas.common",
                  "schemas.vm",
                  "store")),
          entry(
              "backup",
              List.of(
                  "core",
                  "store",
                  "store.sqlite",
                  "store.transfer",
                  "audit",
                  "blob",
                  "billing",
                  "checkpoint")),
          entry(
              "doctor",
              List.of(
                  "core",
                  "store",
                  "store.postgres",
                  "store.transfer",
                  "access",
                  "blob.s3",
                  "edge",
                  "edge.limits",
                  "edge.tls",
                  "keyring",
                  "mail",
                  "nodes",
                  "org",
                  "pem",
                  "signin")),
          entry(
              "mcp",
              List.of(
                  "core",
                  "store",
                  "access",
                  "contract",
                  "edge",
                  "json",
                  "schemas.checkpoints",
                  "schemas.common",
                  "schemas.k8s",
                  "schemas.market",
                  "schemas.org",
                  "schemas.vm",
                  "pools",
                  "capacity",
                  "market",
                  "billing",
                  "events",
                  "sshkeys",
                  "org",
                  "checkpoint",
                  "hardware",
                  "roadmap")),
          entry(
              "console",
              List.of(
                  "core",
                  "json",
                  "schemas.common",
                  "schemas.console",
                  "access",
                  "edge",
                  "edge.fields",
                  "pools",
                  "capacity",
                  "billing",
                  "org",
                  "signin")),
          entry(
              "operator",
              List.of(
                  "core",
                  "json",
                  "schemas.checkpoints",
                  "schemas.common",
                  "schemas.operator",
                  "access",
                  "audit",
                  "edge",
                  "edge.fields",
                  "jobs",
                  "pools",
                  "pools.settings",
                  "capacity",
                  "market",
                  "billing",
                  "org",
                  "checkpoint",
                  "scrub",
                  "move",
                  "status",
                  "uploads")),
          entry("status", List.of("core", "store", "pools", "capacity", "market", "billing")));

  /** The libraries each package may use, besides the JDK. */
  private static final Map<String, List<String>> MAY_USE =
      Map.ofEntries(
          entry("core", List.of()),
          entry("json", List.of("io.vertx.core..", "com.fasterxml.jackson.core..")),
          entry("schemas", List.of()),
          entry("schemas.common", List.of("io.vertx.core.json")),
          entry("schemas.billing", List.of()),
          entry("schemas.checkpoints", List.of("io.vertx.core.json")),
          entry("schemas.console", List.of("io.vertx.core.json")),
          entry("schemas.k8s", List.of("io.vertx.core.json")),
          entry("schemas.market", List.of()),
          entry("schemas.org", List.of()),
          entry("schemas.operator", List.of("io.vertx.core.json")),
          entry("schemas.vm", List.of("io.vertx.core.json")),
          entry("signals", List.of("io.prometheus.metrics..", "org.slf4j", "com.sun.management")),
          entry("traces", List.of("io.vertx.core")),
          entry("traces.otlp", List.of("io.opentelemetry..", "io.vertx.core", "org.slf4j")),
          entry("logs", List.of("io.vertx.core..", "org.slf4j..")),
          entry("store", List.of("io.vertx.core..", "org.slf4j")),
          entry("store.transfer", List.of("io.vertx.core.json")),
          entry("store.sqlite", List.of("io.vertx.core..", "org.slf4j", "org.sqlite..")),
          entry(
              "store.postgres",
              List.of(
                  "io.vertx.core..",
                  "io.vertx.pgclient..",
                  "io.vertx.sqlclient..",
                  "io.netty..",
                  "jdk.net..",
                  "org.slf4j")),
          entry(
              "access",
              List.of(
                  "io.vertx.core..",
                  "io.vertx.ext.auth..",
                  "com.github.benmanes.caffeine..",
                  "org.slf4j")),
          entry("audit", List.of("io.vertx.core..", "org.slf4j")),
          entry("jobs", List.of("io.vertx.core..", "org.slf4j")),
          entry("keyring", List.of("io.vertx.core..", "org.slf4j")),
          entry(
              "contract",
              List.of(
                  "io.vertx.core..",
                  "io.vertx.json.schema..",
                  "io.vertx.openapi..",
                  "com.fasterxml.jackson.core..",
                  "org.yaml.snakeyaml..")),
          entry("docs", List.of("io.vertx.core..", "org.commonmark..", "org.yaml.snakeyaml..")),
          entry("edge.fields", List.of("io.vertx.core.json")),
          entry(
              "edge.limits",
              List.of(
                  "io.vertx.core..",
                  "io.netty..",
                  "com.github.benmanes.caffeine..",
                  "io.github.bucket4j..",
                  "io.lettuce.core..",
                  "org.slf4j")),
          entry("pem", List.of()),
          entry("edge.tls", List.of("io.vertx.core.http", "io.vertx.core.net", "org.slf4j")),
          entry("edge", List.of("io.vertx..", "io.netty..", "io.github.bucket4j..", "org.slf4j")),
          entry("nodes", List.of("io.vertx.core", "org.apache.sshd..", "org.slf4j")),
          entry("blob", List.of("io.vertx.core", "io.vertx.core.buffer", "org.slf4j")),
          entry("blob.s3", List.of("io.vertx.core..", "software.amazon.awssdk..", "org.slf4j")),
          entry("capacity", List.of("io.vertx.core..", "org.slf4j")),
          entry("pools", List.of("io.vertx.core.json")),
          entry("pools.settings", List.of("io.vertx.core..")),
          entry("sshkeys", List.of("io.vertx.core..")),
          entry("events", List.of("io.vertx.core..", "org.slf4j")),
          entry("outbound", List.of("io.vertx.core..")),
          entry(
              "delivery",
              List.of("io.vertx.core..", "com.github.benmanes.caffeine..", "org.slf4j")),
          entry("webhooks", List.of("io.vertx.core..", "org.slf4j")),
          entry("notifications", List.of("io.vertx.core..", "org.slf4j")),
          entry("trailstream", List.of("io.vertx.core..")),
          entry("auction", List.of()),
          entry("market", List.of("io.vertx.core..", "org.slf4j")),
          entry("billing", List.of("io.vertx.core..", "org.slf4j")),
          entry("hardware", List.of("io.vertx.core..", "com.github.benmanes.caffeine..")),
          entry(
              "org",
              List.of(
                  "io.vertx.core..",
                  "com.github.benmanes.caffeine..",
                  "com.google.common.net",
                  "org.slf4j")),
          entry("remote", List.of("io.vertx.core.json")),
          entry(
              "pages",
              List.of(
                  "io.vertx.core..",
                  "io.pebbletemplates.pebble..",
                  "com.aayushatharva.brotli4j..")),
          entry("mail", List.of("io.vertx.core..", "io.vertx.ext.mail", "org.slf4j")),
          entry(
              "signin",
              List.of(
                  "io.vertx.core..",
                  "io.vertx.ext.auth..",
                  "com.github.benmanes.caffeine..",
                  "io.github.bucket4j..",
                  "org.slf4j")),
          entry(
              "oauth",
              List.of("io.vertx.core..", "com.github.benmanes.caffeine..", "io.github.bucket4j..")),
          entry("admin", List.of("io.vertx.core.json", "picocli")),
          entry("command", List.of("io.vertx.core.json", "org.yaml.snakeyaml", "picocli")),
          entry("client", List.of("picocli")),
          entry(
              "client.account",
              // The JDK's own server takes the one answer of a sign-in, for Vert.x takes longer to
              // start.
              List.of("com.sun.net.httpserver", "io.vertx.core.json", "picocli")),
          entry("client.capacity", List.of("io.vertx.core.json", "picocli")),
          entry("client.checkpoint", List.of("io.vertx.core.json", "picocli")),
          entry("client.ssh", List.of("io.vertx.core.json", "picocli")),
          entry("client.trail", List.of("io.vertx.core.json", "picocli")),
          entry("client.transfer", List.of("io.vertx.core.json")),
          entry("secrets", List.of("org.apache.commons.compress..", "org.tukaani.xz..")),
          entry("uploads", List.of("io.vertx.core..", "org.slf4j")),
          entry(
              "checkpoint",
              List.of("io.vertx.core..", "com.github.benmanes.caffeine..", "org.slf4j")),
          entry("walk", List.of("io.vertx.core..")),
          entry("scrub", List.of("io.vertx.core..", "org.slf4j")),
          entry("backup", List.of("io.vertx.core..")),
          entry("doctor", List.of("io.vertx.core.json")),
          entry("move", List.of("io.vertx.core..", "org.slf4j")),
          entry("feed", List.of("io.vertx.core..")),
          entry("install", List.of("io.vertx.core..")),
          entry("roadmap", List.of("io.vertx.core..")),
          entry("scrape", List.of("io.vertx.core..")),
          entry("mcp", List.of("io.vertx.core..", "org.slf4j")),
          entry("console", List.of("io.vertx.core..")),
          entry("operator", List.of("io.vertx.core..")),
          entry("status", List.of("io.vertx.core..")),
          entry("world", List.of("io.vertx.core..", "org.yaml.snakeyaml..", "org.slf4j")),
          entry("app", List.of("io.vertx.core..", "org.slf4j")),
          entry("app.commands", List.of("io.vertx.core..", "picocli", "org.slf4j")));

  /** Features whose way in is a class named for it, so that nothing else of them knows HTTP. */
  private static final List<String> BEHIND_ROUTES =
      List.of(
          "capacity",
          "pools.settings",
          "sshkeys",
          "events",
          "market",
          "billing",
          "hardware",
          "scrape",
          "org",
          "checkpoint",
          "uploads",
          "mcp",
          "console",
          "operator");

  /** A link of Javadoc to a class, and to one of its methods. */
  private static final Pattern LINK =
      Pattern.compile("\\{@link (dev\\.bourse[\\w.]+)(?:#(\\w+))?[^}]*\\}");

  private static final String[] ENGINES = {
    "java.sql..",
    "javax.sql..",
    "org.sqlite..",
    "org.postgresql..",
    "io.vertx.sqlclient..",
    "io.vertx.pgclient.."
  };

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.bourse");

  @TestFactory
  Stream<DynamicTest> eachPackageImportsOnlyWhatTheTableNames() {
    return MAY_IMPORT.entrySet().stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.getKey(),
                    () -> {
                      List<String> forbidden = new ArrayList<>(List.of("dev.bourse.app.."));
                      MAY_IMPORT.keySet().stream()
                          .filter(other -> !other.equals(row.getKey()))
                          .filter(other -> !row.getValue().contains(other))
                          .forEach(other -> forbidden.add("dev.bourse." + other));
                      noClasses()
                          .that(resideInAPackage("dev.bourse." + row.getKey()))
                          .should()
                          .dependOnClassesThat(resideInAnyPackage(forbidden.toArray(String[]::new)))
                          .check(CLASSES);
                    }));
  }

  @TestFactory
  Stream<DynamicTest> eachPackageUsesOnlyTheLibrariesTheTableNames() {
    return MAY_USE.entrySet().stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.getKey(),
                    () -> {
                      List<String> allowed =
                          new ArrayList<>(
                              List.of(
                                  "dev.bourse..", "java..", "javax..", "org.jspecify.annotations"));
                      allowed.addAll(row.getValue());
                      classes()
                          .that(resideInAPackage("dev.bourse." + row.getKey()))
                          .should()
                          .onlyDependOnClassesThat(
                              resideInAnyPackage(allowed.toArray(String[]::new)))
                          .check(CLASSES);
                    }));
  }

  @Test
  void theTableNamesEveryPackage() {
    TreeSet<String> found = new TreeSet<>();
    CLASSES.forEach(c -> found.add(c.getPackageName()));
    TreeSet<String> named = new TreeSet<>(List.of("dev.bourse.app", "dev.bourse.app.commands"));
    MAY_IMPORT.keySet().forEach(name -> named.add("dev.bourse." + name));
    found.remove("dev.bourse");
    TreeSet<String> withLibraries = new TreeSet<>();
    MAY_USE.keySet().forEach(name -> withLibraries.add("dev.bourse." + name));
    assertEquals(withLibraries, found);
    assertEquals(named, found);
  }

  /** A reader finds each package in one row of the README's table, which has at most 20 rows. */
  @Test
  void theReadmeNamesEachPackageOnce() throws IOException {
    List<String[]> rows =
        Files.readString(Path.of("README.md"))
            .replaceFirst("(?s).*\n## The house\n", "")
            .replaceFirst("(?s)\n## .*", "")
            .lines()
            .filter(line -> line.startsWith("| ") && line.contains("`"))
            .map(line -> line.split(" *\\| *", -1))
            .toList();
    List<String> parts = List.of("exchange", "money", "files", "people", "interfaces", "platform");
    assertEquals(parts, rows.stream().map(row -> row[1]).distinct().toList());
    assertTrue(rows.size() <= 20, rows.size() + " rows");
    assertEquals(
        Stream.concat(MAY_IMPORT.keySet().stream(), Stream.of("app", "app.commands"))
            // Generated, one for each contract; the row of their parent says so.
            .filter(name -> !name.startsWith("schemas."))
            .sorted()
            .toList(),
        rows.stream()
            .flatMap(row -> Stream.of(row[2].replace("`", "").split(", ")))
            .sorted()
            .toList());
  }

  /** The tour in the root's package text names classes and methods that exist. */
  @Test
  void theTourNamesWhatExists() throws IOException {
    String text =
        Files.readString(Path.of("src/main/java/dev/bourse/package-info.java"))
            .replaceAll("\\s+\\*?\\s*", " ");
    List<String> missing = new ArrayList<>();
    int links = 0;
    for (Matcher link = LINK.matcher(text); link.find(); links++) {
      String method = link.group(2);
      if (!CLASSES.contain(link.group(1))
          || (method != null
              && CLASSES.get(link.group(1)).getMethods().stream()
                  .noneMatch(found -> found.getName().equals(method)))) {
        missing.add(link.group());
      }
    }
    assertEquals(List.of(), missing);
    assertTrue(links > 20, links + " links");
  }

  /** The validator accepts a field that is added to a request, so the service must read it. */
  @Test
  void eachMemberOfARequestIsUsed() {
    List<String> unused = new ArrayList<>();
    int members = 0;
    for (JavaClass request : CLASSES.that(resideInAPackage("dev.bourse.schemas.."))) {
      if (request.tryGetMethod("read", JsonObject.class).isEmpty()) {
        continue;
      }
      for (JavaField member : request.getFields()) {
        members++;
        boolean isUsed =
            request.getMethod(member.getName()).getAccessesToSelf().stream()
                .anyMatch(
                    use -> !use.getOriginOwner().getPackageName().startsWith("dev.bourse.schemas"));
        if (!isUsed) {
          unused.add(member.getFullName());
        }
      }
    }
    assertEquals(List.of(), unused);
    assertTrue(members > 15, members + " members");
  }

  @Test
  void theServiceKnowsNothingOfItsCommands() {
    noClasses()
        .that(resideInAPackage("dev.bourse.app"))
        .should()
        .dependOnClassesThat(resideInAPackage("dev.bourse.app.commands"))
        .check(CLASSES);
  }

  @Test
  void coreKnowsNothingButTheJdk() {
    classes()
        .that(resideInAPackage("dev.bourse.core"))
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                "dev.bourse.core", "java..", "javax.crypto..", "org.jspecify.annotations"))
        .check(CLASSES);
  }

  @Test
  void onlyRoutesTouchTheEdge() {
    for (String feature : BEHIND_ROUTES) {
      noClasses()
          .that(resideInAPackage("dev.bourse." + feature).and(DescribedPredicate.not(routes())))
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "dev.bourse.contract..", "dev.bourse.edge..", "io.vertx.ext.web.."))
          .allowEmptyShould(true) // A feature may be routes alone.
          .check(CLASSES);
    }
  }

  /** By Unicode's rules other letters become some of ASCII's; see {@link dev.bourse.core.Text}. */
  @Test
  void namesAndAddressesAreFoldedByAsciisRulesAlone() {
    noClasses()
        .that(
            resideInAnyPackage(
                "dev.bourse.access", "dev.bourse.oauth", "dev.bourse.org", "dev.bourse.signin"))
        .should()
        .callMethod(String.class, "toLowerCase")
        .orShould()
        .callMethod(String.class, "toLowerCase", Locale.class)
        .orShould()
        .callMethod(String.class, "equalsIgnoreCase", String.class)
        .check(CLASSES);
  }

  /** A column is read by its name; positions are for the copying of whole tables. */
  @Test
  void onlyTheEnginesReadColumnsByPosition() {
    for (String read :
        List.of("text", "textOrNull", "integer", "integerOrNull", "bytes", "truth")) {
      noClasses()
          .that(notIn("dev.bourse.store", "dev.bourse.store.sqlite", "dev.bourse.store.postgres"))
          .should()
          .callMethod(Row.class, read, int.class)
          .check(CLASSES);
    }
  }

  @Test
  void onlyNodesKnowsSsh() {
    noClasses()
        .that(resideInAPackage("dev.bourse..").and(notIn("dev.bourse.nodes")))
        .should()
        .dependOnClassesThat(resideInAPackage("org.apache.sshd.."))
        .check(CLASSES);
  }

  @Test
  void onlyTheSharedBucketsKnowRedis() {
    noClasses()
        .that(
            resideInAPackage("dev.bourse..")
                .and(
                    DescribedPredicate.not(
                        nameMatching("dev\\.bourse\\.edge\\.limits\\.RedisBuckets(\\$.*)?"))))
        .should()
        .dependOnClassesThat(resideInAnyPackage("io.lettuce..", "io.github.bucket4j.redis.."))
        .check(CLASSES);
  }

  @Test
  void onlyAnEnginesRoomKnowsTheEngine() {
    noClasses()
        .that(notIn("dev.bourse.store.sqlite", "dev.bourse.store.postgres"))
        .should()
        .dependOnClassesThat(resideInAnyPackage(ENGINES))
        .check(CLASSES);
  }

  private static DescribedPredicate<JavaClass> routes() {
    return DescribedPredicate.describe("routes", c -> nameMatching(".*Routes(\\$.*)?").test(c));
  }

  private static DescribedPredicate<JavaClass> notIn(String... packages) {
    return DescribedPredicate.not(resideInAnyPackage(packages));
  }
}
