package dev.bourse.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.store.Statement;
import dev.bourse.testing.AdminRun;
import dev.bourse.testing.ContractCheck;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.AutoComplete;
import picocli.CommandLine;

/** The operators' interface from a command line. */
@ReplayedOnPostgres
class AdminCommandTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static AdminRun admin(String... arguments) {
    return AdminRun.on(bourse, arguments);
  }

  @Test
  void everyOperationIsOneCommandWithHelp() {
    CommandLine line = AdminCommand.create(Map.of());
    TreeSet<String> verbs = new TreeSet<>();
    line.getSubcommands()
        .forEach(
            (noun, nounLine) -> {
              if (nounLine.getSubcommands().isEmpty()) {
                verbs.add(noun);
                assertTrue(nounLine.getUsageMessage().contains("--output"), noun);
              }
              nounLine
                  .getSubcommands()
                  .forEach(
                      (verb, verbLine) -> {
                        verbs.add(noun + " " + verb);
                        assertTrue(verbLine.getUsageMessage().contains("--output"), verb);
                      });
            });
    long operations =
        ContractCheck.operations().stream()
            .filter(operation -> operation.path().startsWith("/api/operator/"))
            // Operations of a browser's session have no commands.
            .filter(operation -> operation.schemes().contains(Operator.SCHEME))
            .count();
    assertEquals(operations, verbs.size(), verbs::toString);
  }

  @Test
  void aThingIsShownAsATableOrAsJson() {
    String table = admin("switches", "show").out();
    assertTrue(table.contains("capacity_writes_armed  true\n"), table);
    assertEquals(
        new JsonObject()
            .put("capacity_writes_armed", true)
            .put("spend_limit_enforced", false)
            .put("billing_hold_enforced", false),
        admin("switches", "show", "--output", "json").json());
  }

  @Test
  void theStatusIsAScreenForPeopleAndJsonForPrograms() {
    String screen = admin("status").out();
    assertTrue(screen.startsWith("bourse "), screen);
    for (String told :
        List.of("demo-h100", "RUN_BY", "nodes in quarantine: 0", "reviews waiting: ", "clock: ")) {
      assertTrue(screen.contains(told), told + " in: " + screen);
    }
    JsonObject status = admin("status", "-o", "json").json();
    assertEquals(
        16, status.getJsonArray("pools").getJsonObject(0).getJsonObject("nodes").getInteger("all"));
  }

  @Test
  void backgroundJobsAreListedAndRun() {
    String table = admin("jobs", "list", "--limit", "500").out();
    assertTrue(table.contains("seal-audit-trail"), table);
    AdminRun run = admin("jobs", "run", "reencrypt-secrets", "-o", "json");
    assertEquals(0, run.exitCode(), run.err());
    assertEquals("reencrypt-secrets", run.json().getString("name"));
    AdminRun unknown = admin("jobs", "run", "none");
    assertEquals(1, unknown.exitCode());
    assertTrue(unknown.err().startsWith("not-found: no job 'none' here"), unknown.err());
  }

  @Test
  void whatCannotBeUndoneIsToldAndAsksFirst() {
    assertEquals(
        0,
        admin("orgs", "create", "--org-id", "going", "--display", "G", "--kind", "standard")
            .exitCode());
    AdminRun asked = admin("orgs", "retire", "going");
    assertEquals(2, asked.exitCode());
    assertTrue(
        asked.err().startsWith("Retires organization going (G) for good, with its tokens"),
        asked.err());
    assertTrue(asked.err().contains("Add --yes to do it without asking"), asked.err());
    assertTrue(
        admin("orgs", "show", "going", "-o", "json").json().getValue("retired_at") == null,
        "nothing was done");
    assertEquals(0, admin("orgs", "retire", "going", "--yes").exitCode());
    assertEquals(2, admin("nodes", "evict", "demo-h100-00016", "--reason", "r").exitCode());
    AdminRun refused = admin("nodes", "evict", "demo-h100-00016", "--reason", "r", "-y");
    assertEquals(1, refused.exitCode());
    assertTrue(refused.err().startsWith("conflict: "), refused.err());
  }

  @Test
  void moneyAsksWithItsSum() {
    String[] credit = {
      "billing", "credit", "globex", "--amount-usd", "2500.50", "--idempotency-key", "k"
    };
    long before = admin("billing", "show", "globex", "-o", "json").json().getLong("balance_micros");
    AdminRun asked = admin(credit);
    assertEquals(2, asked.exitCode());
    assertTrue(asked.err().contains("Books a credit of $2500.50 for "), asked.err());
    assertEquals(
        before, admin("billing", "show", "globex", "-o", "json").json().getLong("balance_micros"));
    assertEquals(0, admin(with(credit, "--yes")).exitCode());
  }

  @Test
  void onlyOptionsThatCanTakeSomethingAwayAsk() {
    String[] update = {"pools", "update", "demo-h100"};
    assertEquals(0, admin(with(update, "--self-service", "true")).exitCode());
    AdminRun asked = admin(with(update, "--notice-ms", "none"));
    assertEquals(2, asked.exitCode(), asked.err());
    assertTrue(asked.err().startsWith("Changes the terms of pool demo-h100"), asked.err());
    assertTrue(asked.err().contains("notice_ms: none to none; "), asked.err());
    assertEquals(0, admin("clusters", "update", "acme-train", "--writes-armed", "true").exitCode());
    AdminRun disarmed = admin("clusters", "update", "acme-train", "--writes-armed", "false");
    assertTrue(disarmed.err().contains("writes_armed: true to false; "), disarmed.err());
  }

  @Test
  void whatIsLostIsNamedAsTheServiceKnowsIt() {
    String id =
        admin("tokens", "mint", "acme", "--name", "nightly", "--scopes", "bid:read", "-o", "json")
            .json()
            .getString("token_id");
    AdminRun asked = admin("tokens", "revoke", "acme", id);
    assertEquals(2, asked.exitCode());
    assertTrue(asked.err().startsWith("Revokes API token nightly of acme"), asked.err());
    AdminRun unknown = admin("nodes", "evict", "nowhere-1", "--reason", "r");
    assertEquals(1, unknown.exitCode(), "there is nothing to ask about");
    assertTrue(unknown.err().startsWith("not-found: "), unknown.err());
    AdminRun noRow = admin("tokens", "revoke", "acme", "tok-nosuch");
    assertEquals(1, noRow.exitCode());
    assertEquals("not-found: there is no token tok-nosuch\n", noRow.err());
    AdminRun nobody = admin("members", "remove", "acme", "nosuch");
    assertEquals("not-found: there is no username nosuch\n", nobody.err());
  }

  @Test
  void fieldsLeftOutStayAsTheyAre() {
    JsonObject thrown =
        admin("switches", "set", "--spend-limit-enforced", "true", "-y", "-o", "json").json();
    assertEquals(true, thrown.getBoolean("spend_limit_enforced"));
    assertEquals(true, thrown.getBoolean("capacity_writes_armed"));
    admin("switches", "set", "--spend-limit-enforced=false", "-y", "-o", "json").json();
  }

  @Test
  void aValueOfTheWrongKindIsRefusedBeforeAnythingIsSent() {
    AdminRun outcome = admin("switches", "set", "--spend-limit-enforced", "maybe");
    assertEquals(2, outcome.exitCode());
    assertTrue(
        outcome.err().contains("--spend-limit-enforced: 'maybe' is no boolean"), outcome.err());
  }

  @Test
  void aRefusalIsToldAsTheServiceWordsIt() {
    AdminRun outcome = admin("switches", "set");
    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.err().startsWith("bad-request: "), outcome.err());
  }

  @Test
  void whoHasNoOperatorsTokenIsToldWhereToFindOne(@TempDir Path empty) {
    String url = bourse.service().baseUrl();
    AdminRun none =
        AdminRun.of(Map.of("BOURSE_URL", url), "switches", "show", "--data", empty.toString());
    assertEquals(2, none.exitCode());
    assertTrue(none.err().contains("no operator's token"), none.err());
    AdminRun wrong =
        AdminRun.of(
            Map.of("BOURSE_URL", url, "BOURSE_OPERATOR_TOKEN", bourse.secret("acme", "orgwide")),
            "switches",
            "show");
    assertEquals(1, wrong.exitCode());
    assertTrue(wrong.err().contains("BOURSE_OPERATOR_TOKEN"), wrong.err());
  }

  @Test
  void theDataFolderTellsServiceAndToken(@TempDir Path elsewhere) throws IOException {
    AdminRun local = AdminRun.of(Map.of(), "switches", "show", "--data", bourse.data().toString());
    assertEquals(0, local.exitCode(), local.err());
    Path file = Files.writeString(elsewhere.resolve("token"), bourse.operatorToken() + "\n");
    AdminRun filed =
        AdminRun.of(
            Map.of(),
            "switches",
            "show",
            "--url",
            bourse.service().baseUrl(),
            "--token-file",
            file.toString());
    assertEquals(0, filed.exitCode(), filed.err());
  }

  @Test
  void aServiceThatIsAwayEndsWithItsOwnCode() {
    AdminRun outcome =
        AdminRun.of(
            Map.of("BOURSE_OPERATOR_TOKEN", bourse.operatorToken()),
            "switches",
            "show",
            "--url",
            "http://127.0.0.1:1");
    assertEquals(3, outcome.exitCode());
    assertTrue(outcome.err().contains("cannot reach http://127.0.0.1:1"), outcome.err());
  }

  private static List<String> firstWords(String table) {
    return table.lines().skip(1).map(line -> line.split(" ", 2)[0]).toList();
  }

  @Test
  void allFollowsAListToItsEndByTheKeyInItsFirstColumn() {
    for (String[] list :
        new String[][] {
          {"orgs", "list"},
          {"clusters", "list"},
          {"nodes", "list", "demo-h100"},
          {"tokens", "list", "acme"},
          {"audit", "list", "--org", "acme"},
        }) {
      List<String> whole = firstWords(admin(with(list, "--limit", "500")).out());
      AdminRun page = admin(with(list, "--limit", "2"));
      assertEquals(whole.subList(0, 2), firstWords(page.out()), list[0]);
      assertTrue(page.err().startsWith("more follow: --"), page.err());
      assertTrue(page.err().contains(' ' + whole.get(1) + ", or --all"), page.err());
      AdminRun all = admin(with(list, "--limit", "2", "--all"));
      assertEquals(whole, firstWords(all.out()), list[0]);
      assertEquals("", all.err());
    }
  }

  private static String[] with(String[] list, String... options) {
    return Stream.concat(Stream.of(list), Stream.of(options)).toArray(String[]::new);
  }

  @Test
  void aListShowsWhatFitsALineAndAThingShowsAll() {
    String list = admin("clusters", "list").out();
    String heading = list.lines().findFirst().orElseThrow();
    assertTrue(heading.startsWith("NAME "), heading);
    for (String leftOut : List.of("DECLARED", "EFFECTIVE_ENVIRONMENT", "BILLING_HOLD")) {
      assertFalse(heading.contains(leftOut), "nested, or empty in all rows: " + leftOut);
    }
    String shown = admin("clusters", "show", "acme-legacy").out();
    assertTrue(shown.contains("declared "), shown);
    assertTrue(shown.contains("\nnodes:\nNODE_ID "), shown);
    assertFalse(list.lines().anyMatch(line -> line.endsWith(" ")), list);
  }

  @Test
  void anEmptyListSaysSo() {
    admin("orgs", "create", "--org-id", "hollow", "--display", "Hollow", "--kind", "standard");
    AdminRun none = admin("members", "list", "hollow");
    assertEquals(0, none.exitCode());
    assertEquals("", none.out());
    assertEquals("none\n", none.err());
  }

  @Test
  void aMintedSecretIsShownOnceAndNeverAgain() {
    AdminRun minted = admin("tokens", "mint", "globex", "--name", "ci", "--scopes", "bid:read");
    assertEquals(0, minted.exitCode(), minted.err());
    String secret =
        minted
            .out()
            .lines()
            .filter(line -> line.startsWith("token "))
            .map(line -> line.substring(5).strip())
            .findFirst()
            .orElseThrow();
    bourse.with(secret).get("/api/whoami").ok();
    assertTrue(minted.err().contains("shown this once"), minted.err());
    AdminRun listed = admin("tokens", "list", "globex", "--all", "-o", "json");
    assertTrue(listed.out().contains(secret.split("_", -1)[1]), listed.out());
    assertFalse((listed.out() + listed.err()).contains(secret.split("_", -1)[2]));
  }

  @Test
  void aTrailIsVerifiedWholeOrEndsWithACodeOfItsOwn() {
    try (RunningBourse sealed = RunningBourse.demo("audit.seal-interval=50ms")) {
      Map<String, String> environment =
          Map.of(
              "BOURSE_URL", sealed.service().baseUrl(),
              "BOURSE_OPERATOR_TOKEN", sealed.operatorToken());
      RunningBourse.until(
          "all is sealed",
          () -> AdminRun.of(environment, "audit", "verify", "acme").out().contains("; head "));
      AdminRun every = AdminRun.of(environment, "audit", "verify");
      assertEquals(0, every.exitCode(), every.err());
      assertTrue(every.out().endsWith("trails: 4, all whole\n"), every.out());
      AdminRun whole = AdminRun.of(environment, "audit", "verify", "acme");
      assertEquals(0, whole.exitCode(), whole.err());
      assertTrue(whole.out().startsWith("writes: whole; rows: 4, batches: 1, "), whole.out());
      assertTrue(whole.out().contains("\nreads: whole; "), whole.out());
      RunningBourse.await(
          sealed
              .database()
              .commit(
                  List.of(
                      Statement.of(
                          "UPDATE audit SET detail = 'x' WHERE id ="
                              + " (SELECT MIN(id) FROM audit WHERE org_id = 'acme')"))));
      AdminRun broken = AdminRun.of(environment, "audit", "verify", "acme");
      assertEquals(4, broken.exitCode());
      assertTrue(broken.out().startsWith("writes: NOT WHOLE\n"), broken.out());
      assertTrue(broken.out().contains("what    changed\n"), broken.out());
      assertTrue(broken.out().contains("\nreads: whole; "), "one does not hide the other");
      AdminRun all = AdminRun.of(environment, "audit", "verify");
      assertEquals(4, all.exitCode(), all.out());
      assertTrue(all.out().contains("acme writes: NOT WHOLE"), all.out());
      // It continues past the faulty trail, and begins with the platform's own.
      assertTrue(all.out().startsWith("_platform writes: whole"), all.out());
      assertTrue(all.out().contains("openlab reads: whole"), all.out());
      assertTrue(all.out().endsWith("NOT ALL WHOLE\n"), all.out());
      assertEquals(1, AdminRun.of(environment, "audit", "verify", "nobody").exitCode());
    }
  }

  @Test
  void helpIsProseWithoutTheContractsLineBreaks() {
    AdminRun help = admin("tokens", "mint", "--help");
    assertEquals(0, help.exitCode());
    assertTrue(help.out().lines().noneMatch(line -> line.equals("works")), help.out());
    assertTrue(help.out().contains("only\nits digest is stored. It works"), help.out());
  }

  @Test
  void shellsCanCompleteTheCommands() {
    String script = AutoComplete.bash("bourse-admin", AdminCommand.create(Map.of()));
    for (String word : List.of("switches", "--capacity-writes-armed", "--token-file")) {
      assertTrue(script.contains(word), word);
    }
  }
}
