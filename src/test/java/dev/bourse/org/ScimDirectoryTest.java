package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.FakeClock;
import dev.bourse.org.Directory.Person;
import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The SCIM directory against a real server that answers, stalls, lies and goes away. */
class ScimDirectoryTest {
  private static final long TIMEOUT_MILLIS = 400;

  private static final Long SEEN = 1_795_162_364_103L;
  private static final long REST_MILLIS = 10_000;
  private static final long KEPT_MILLIS = 30_000;

  private final Vertx vertx = Vertx.vertx();
  private final FakeClock clock = new FakeClock(1_000_000);
  private final ScimServer server = new ScimServer();

  /** Long enough for a slow machine; {@link #hasty} is for tests without an answer. */
  private final Directory directory = directory("lastLogin", 60_000);

  private final Directory hasty = directory("", TIMEOUT_MILLIS);

  private Directory directory(String lastLogin, long timeoutMillis) {
    return new ScimDirectory(
        vertx, new ScimConfig(server.url(), "s3cret", timeoutMillis, lastLogin), clock);
  }

  @AfterEach
  void stop() {
    server.close();
    vertx.close().await();
  }

  private static List<Member> members(String... usernames) {
    return Stream.of(usernames)
        .map(name -> Member.joining("acme", name, name + "@acme.example", "", 1))
        .toList();
  }

  private static Person person(Map<String, Person> found) {
    return Objects.requireNonNull(found.get("alice"));
  }

  private static Map<String, Person> find(Directory directory, String... usernames)
      throws Exception {
    return StoreFixture.await(directory.find(members(usernames)));
  }

  private Map<String, Person> find(String... usernames) throws Exception {
    return StoreFixture.await(directory.find(members(usernames)));
  }

  @Test
  void membersAreAskedForByUserName() throws Exception {
    server.addUser("Alice", "alice@acme.example", "Alice Archer", true);
    server.addUser("bob", "bob@acme.example", "Bob Baker", false);
    server.addUser("mallory", "m@evil.example", "Mallory", true);
    assertEquals(
        Map.of(
            "alice", new Person("alice@acme.example", "Alice Archer", true, SEEN),
            "bob", new Person("bob@acme.example", "Bob Baker", false, SEEN)),
        find("alice", "bob", "carol"));
    assertEquals(
        List.of("userName eq \"alice\" or userName eq \"bob\" or userName eq \"carol\""),
        List.copyOf(server.filters));
    assertEquals(List.of("Bearer s3cret"), List.copyOf(server.authorizations));
  }

  @Test
  void aUsernameCannotChangeTheFilter() throws Exception {
    server.addUser("mallory", "m@evil.example", "Mallory", true);
    assertEquals(Map.of(), find("x\" or userName eq \"mallory"));
    assertEquals("userName eq \"x\\\" or userName eq \\\"mallory\"", server.filters.peek());
  }

  @Test
  void whatIsKnownIsKeptAMomentAndNobodyKnownTwiceIsAskedFor() throws Exception {
    server.addUser("alice", "alice@acme.example", "Alice", true);
    find("alice", "carol");
    find("alice", "carol");
    assertEquals(1, server.filters.size());
    find("alice", "bob");
    assertEquals("userName eq \"bob\"", List.copyOf(server.filters).get(1));
    clock.advance(KEPT_MILLIS + 1);
    server.addUser("alice", "new@acme.example", "Alice", true, "alice@acme.example");
    assertEquals("new@acme.example", person(find("alice")).email());
  }

  @Test
  void aLargeRosterIsAskedForInPartsAndAShortPageIsFollowed() throws Exception {
    String[] names = IntStream.range(0, 130).mapToObj(i -> "user" + i + "x").toArray(String[]::new);
    for (String name : names) {
      server.addUser(name, name + "@acme.example", name, true);
    }
    server.pageSize = 8;
    assertEquals(Set.of(names), find(names).keySet());
    assertEquals(6 * 3 + 2, server.filters.size());
  }

  @Test
  void ofAVeryLargeRosterAThousandAreLookedUpAtATime() throws Exception {
    String[] names =
        IntStream.range(0, 1_100).mapToObj(i -> "user" + i + "x").toArray(String[]::new);
    Directory patient = directory("", 60_000);
    StoreFixture.await(patient.find(members(names)));
    assertEquals(50, server.filters.size());
    StoreFixture.await(patient.find(members(names)));
    assertEquals(55, server.filters.size());
  }

  @Test
  void aServerThatIgnoresTheFilterTellsNobodyElseAndIsNotReadForEver() throws Exception {
    JsonArray strangers = new JsonArray();
    IntStream.range(0, 20).forEach(i -> strangers.add(new JsonObject().put("userName", "s" + i)));
    server.say(
        new JsonObject().put("totalResults", 1_000_000).put("Resources", strangers).encode());
    assertEquals(Map.of(), find("alice"));
    assertEquals(4, server.filters.size());
  }

  @Test
  @Slow("the time-out has to be long enough for the answer at the end")
  void aDirectoryThatStallsCostsTheTimeoutOnceAndIsThenLeftAlone() throws Exception {
    server.addUser("alice", "alice@acme.example", "Alice", true);
    // A first look-up in a process takes much longer than later ones.
    find("carol");
    server.filters.clear();
    server.stall();
    // The directory answers in the end, also on a slow machine.
    long timeoutMillis = 5 * TIMEOUT_MILLIS;
    Directory stalled = directory("", timeoutMillis);
    long began = System.nanoTime();
    assertEquals(Map.of(), find(stalled, "alice"));
    long millis = (System.nanoTime() - began) / 1_000_000;
    assertTrue(millis >= timeoutMillis, "took " + millis);
    // The request is cancelled.
    StoreFixture.eventually("nothing waits at the server", () -> server.waiting.get() == 0);
    server.behave();
    assertEquals(Map.of(), find(stalled, "alice"));
    assertEquals(1, server.filters.size(), "it is left alone");
    clock.advance(REST_MILLIS - 1);
    assertEquals(Map.of(), find(stalled, "alice"));
    assertEquals(1, server.filters.size());
    clock.advance(1);
    Set<String> found = find(stalled, "alice").keySet();
    // An answer after the timeout, as on a busy machine, starts another rest.
    for (int late = 1; late <= 5 && found.isEmpty() && server.filters.size() > late; late++) {
      clock.advance(REST_MILLIS);
      found = find(stalled, "alice").keySet();
    }
    assertEquals(Set.of("alice"), found);
    server.filters.clear();
    find(stalled, "bob");
    assertEquals(1, server.filters.size());
  }

  /** Meanwhile its roster is shown without directory data. */
  @Test
  void oneOrganizationsLookUpsLeaveRoomForOthers() throws Exception {
    server.stall();
    List<Future<Map<String, Person>>> calls = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      calls.add(directory.find(members("user" + i)));
    }
    calls.add(
        directory.find(List.of(Member.joining("globex", "dave", "dave@globex.example", "", 1))));
    server.hangUp(4 + 1);
    for (Future<Map<String, Person>> call : calls) {
      StoreFixture.await(call);
    }
    assertEquals(4 + 1, server.filters.size());
  }

  @Test
  void afterItsRestOneCallAloneTriesAgain() throws Exception {
    server.stall();
    Future<Map<String, Person>> first = directory.find(members("alice"));
    server.hangUp(1);
    StoreFixture.await(first);
    clock.advance(REST_MILLIS);
    List<Future<Map<String, Person>>> calls = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      calls.add(directory.find(members("user" + i)));
    }
    server.hangUp(1);
    for (Future<Map<String, Person>> call : calls) {
      StoreFixture.await(call);
    }
    assertEquals(2, server.filters.size());
  }

  @Test
  void manyCallsAtATimeAreAnsweredFromWhatIsKnown() throws Exception {
    server.stall();
    List<Future<Map<String, Person>>> calls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      calls.add(hasty.find(members("user" + i)));
    }
    for (Future<Map<String, Person>> call : calls) {
      assertEquals(Map.of(), StoreFixture.await(call));
    }
    assertTrue(server.filters.size() <= 8, "at a time: " + server.filters.size());
  }

  @Test
  void whateverItDoesWrongNobodyIsFoundAndNothingFails() throws Exception {
    List<Consumer<HttpServerRequest>> wrongs = new ArrayList<>();
    for (int status : new int[] {204, 301, 400, 401, 404, 429, 500, 503}) {
      wrongs.add(
          request ->
              request
                  .response()
                  .setStatusCode(status)
                  .putHeader("location", server.url() + "/elsewhere")
                  .end());
    }
    for (String body :
        List.of(
            "",
            "<html>sign in</html>",
            "[]",
            "null",
            "{}",
            "{\"totalResults\":\"1\"}",
            "{\"totalResults\":1,\"Resources\":{}}",
            "{\"totalResults\":1,\"Resources\":[{\"userName\":\"alice\"",
            "[".repeat(5_000),
            "\u0000\u0001\u0002")) {
      wrongs.add(request -> request.response().end(body));
    }
    // Ends within the body; never ends; closes without an answer.
    wrongs.add(
        request -> {
          request.response().putHeader("content-length", "1000").write("{\"totalResults\":");
          request.connection().close();
        });
    wrongs.add(request -> flood(request));
    wrongs.add(request -> request.connection().close());
    for (Consumer<HttpServerRequest> wrong : wrongs) {
      server.behave(wrong);
      assertEquals(Map.of(), find("alice"));
      clock.advance(REST_MILLIS);
    }
    assertEquals(wrongs.size(), server.filters.size());
    server.behave();
    server.addUser("alice", "alice@acme.example", "Alice", true);
    assertEquals(Set.of("alice"), find("alice").keySet());
  }

  private static void flood(HttpServerRequest request) {
    request.response().setChunked(true);
    request.response().exceptionHandler(gone -> {});
    pour(request);
  }

  private static void pour(HttpServerRequest request) {
    request.response().write(" ".repeat(65_536)).onSuccess(sent -> pour(request));
  }

  @Test
  void aUserThatIsNoneAsTheStandardHasItIsLeftOut() throws Exception {
    server.say(
        new JsonObject()
            .put("totalResults", 6)
            .put(
                "Resources",
                new JsonArray()
                    .add("alice")
                    .addNull()
                    .add(new JsonObject().put("userName", 7))
                    .add(new JsonObject().put("userName", "bob").put("active", "perhaps"))
                    .add(
                        new JsonObject()
                            .put("userName", "carol")
                            .put("active", "False")
                            .put("emails", new JsonArray().add(address("carol@acme.example")))
                            .put("displayName", new JsonArray())
                            .put("lastLogin", "yesterday"))
                    .add(
                        new JsonObject()
                            .put("userName", "dave")
                            .put(
                                "emails",
                                new JsonArray()
                                    .add(1)
                                    .add(new JsonObject())
                                    .add(address("dave@acme.example")))
                            .put(
                                "name",
                                new JsonObject()
                                    .put("givenName", "Dave")
                                    .put("familyName", "Dyer"))))
            .encode());
    assertEquals(
        Map.of(
            "carol", new Person("carol@acme.example", "", false, null),
            "dave", new Person("dave@acme.example", "Dave Dyer", true, null)),
        find("alice", "bob", "carol", "dave"));
  }

  private static JsonObject address(String email) {
    return new JsonObject().put("value", email);
  }

  private static Member alice(String email) {
    return Member.joining("acme", "alice", email, "", 1);
  }

  private Map<String, Person> find(Member member) throws Exception {
    return StoreFixture.await(directory.find(List.of(member)));
  }

  private static JsonObject user(String userName, String name, Object... emails) {
    JsonObject user = new JsonObject().put("userName", userName).put("displayName", name);
    return emails.length == 0 ? user : user.put("emails", new JsonArray(List.of(emails)));
  }

  private void say(JsonObject... users) {
    server.say(
        new JsonObject()
            .put("totalResults", users.length)
            .put("Resources", new JsonArray(List.of(users)))
            .encode());
  }

  @Test
  void anotherOrganizationsMemberOfTheSameUsernameIsNotShown() throws Exception {
    server.addUser("alice", "alice@globex.example", "Alice of Globex", false);
    assertEquals(Map.of(), find(alice("alice@acme.example")));
    assertEquals(
        "Alice of Globex",
        person(find(alice("alice@globex.example"))).name(),
        "what was learned of one is not kept for the other");
    assertEquals(Map.of(), find(alice("alice@acme.example")));
    assertEquals(Map.of(), find(alice("")), "a member without an address is nobody's");
  }

  @Test
  void anAddressIsTheSameInAnyCaseOfItsAsciiLettersAlone() throws Exception {
    server.addUser("alice", "Alice@ACME.example", "Alice", true);
    assertEquals("Alice", person(find(alice("aLice@acme.EXAMPLE"))).name());
    say(user("alice", "Not Kim", address("\u212aim@acme.example")));
    assertEquals(Map.of(), find(alice("kim@acme.example")));
  }

  @Test
  void whoseAddressChangedThereIsKnownByAnOlderOneThatTheDirectoryStillLists() throws Exception {
    server.addUser("alice", "new@acme.example", "Alice", true, "alice@acme.example");
    assertEquals("new@acme.example", person(find(alice("alice@acme.example"))).email());
    server.addUser("alice", "new@acme.example", "Alice", true);
    clock.advance(KEPT_MILLIS + 1);
    assertEquals(Map.of(), find(alice("alice@acme.example")));
  }

  @Test
  void ofSeveralOfOneNameTheOneOfTheMembersAddressIsShown() throws Exception {
    say(
        user("alice", "Of Globex", address("alice@globex.example")),
        user("Alice", "Of Acme", address("alice@acme.example")),
        user("bob", "Bob", address("alice@acme.example")));
    assertEquals("Of Acme", person(find(alice("alice@acme.example"))).name());
  }

  @Test
  void ofSeveralWithTheMembersAddressWhoDifferNobodyIsShown() throws Exception {
    say(
        user("alice", "One", address("alice@acme.example")),
        user("alice", "Other", address("alice@acme.example")));
    assertEquals(Map.of(), find(alice("alice@acme.example")));
  }

  @Test
  void aUserWithoutAddressesIsShownOnlyWhenTheUserNameIsTheMembersAddress() throws Exception {
    say(user("alice", "Somebody"), user("Erin@acme.example", "Erin"));
    assertEquals(Map.of(), find(alice("alice@acme.example")));
    Member erin = Member.joining("acme", "erin@acme.example", "erin@acme.example", "", 1);
    assertEquals(Set.of("erin@acme.example"), find(erin).keySet());
  }

  @Test
  void theLastSignInIsReadFromTheAttributeThatIsSet() throws Exception {
    server.addUser("alice", "alice@acme.example", "Alice", true);
    Objects.requireNonNull(server.users.get("alice"))
        .put("urn:x:2.0:User", new JsonObject().put("seen", "1970-01-01T01:00:01+01:00"));
    assertEquals(1_000L, seen(directory("urn:x:2.0:User:seen", 10_000)));
    assertEquals(SEEN, seen(directory("lastLogin", 60_000)));
    assertEquals(null, seen(directory("", 10_000)));
    assertEquals(null, seen(directory("urn:y:seen", 10_000)));
  }

  private static @Nullable Long seen(Directory directory) throws Exception {
    return person(StoreFixture.await(directory.find(members("alice")))).lastLoginAtMillis();
  }

  @Test
  void aServerThatIsNotThereIsLikeOneThatFails() throws Exception {
    Directory lost =
        new ScimDirectory(
            vertx, new ScimConfig("http://127.0.0.1:1", "", TIMEOUT_MILLIS, ""), clock);
    assertEquals(Map.of(), StoreFixture.await(lost.find(members("alice"))));
    StoreFixture.await(lost.close());
    assertFalse(lost.find(members("alice")).failed());
  }
}
