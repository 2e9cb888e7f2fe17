package dev.bourse.org;

import dev.bourse.core.Slices;
import dev.bourse.core.Text;
import dev.bourse.org.Directory.Person;
import dev.bourse.org.ScimPage.User;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.Json;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One look-up of users in a SCIM directory. Its requests share one deadline, and all end when it
 * passes or one of them fails. Confined to one context.
 */
final class ScimLookup {
  /** Concurrent requests. */
  static final int LANES = 4;

  /** Users of one request: a filter of some 2 KB when encoded, within any server's bound. */
  private static final int USERS_PER_REQUEST = 20;

  /**
   * Users of one look-up; the rest of a larger roster is looked up when the roster is read again.
   */
  private static final int MAX_USERS = 1_000;

  /** Pages followed for one filter: user names are unique, so a server has no reason for more. */
  private static final int MAX_PAGES = 4;

  /** Longest answer: 20 users at 10 KB each, far more than their few attributes need. */
  private static final int MAX_BYTES = 200 * 1_024;

  /** The key of a look-up: data is used only for a member with both this name and this address. */
  record PersonKey(String username, String email) {
    static PersonKey about(Member member) {
      return new PersonKey(member.username(), member.email());
    }
  }

  private final Vertx vertx;
  private final HttpClient client;
  private final ScimConfig config;
  private final Deque<List<Member>> waiting = new ArrayDeque<>();
  private final Set<HttpClientRequest> open = new HashSet<>();
  private final Map<PersonKey, Optional<Person>> found = new HashMap<>();
  private final Promise<Void> ended = Promise.promise();

  ScimLookup(Vertx vertx, HttpClient client, ScimConfig config, List<Member> members) {
    this.vertx = vertx;
    this.client = client;
    this.config = config;
    waiting.addAll(
        Slices.of(members.subList(0, Math.min(members.size(), MAX_USERS)), USERS_PER_REQUEST));
  }

  /**
   * Succeeds when all users were looked up, fails with the directory's failure; in both cases
   * within the deadline.
   */
  Future<Void> ended() {
    return ended.future();
  }

  /** The results so far: for each member the person, or empty if the directory has none. */
  Map<PersonKey, Optional<Person>> found() {
    return found;
  }

  /** Sends the first requests. */
  void start() {
    long timer =
        vertx.setTimer(
            config.timeoutMillis(),
            late -> ended.tryFail("no answer within " + config.timeoutMillis() + " ms"));
    ended
        .future()
        .onComplete(
            outcome -> {
              vertx.cancelTimer(timer);
              waiting.clear();
              List.copyOf(open).forEach(HttpClientRequest::reset);
            });
    List<Future<Void>> lanes = new ArrayList<>();
    for (int i = 0; i < LANES; i++) {
      lanes.add(lane());
    }
    Future.all(lanes)
        .onSuccess(all -> ended.tryComplete())
        .onFailure(failure -> ended.tryFail(failure));
  }

  private Future<Void> lane() {
    List<Member> next = waiting.poll();
    return next == null
        ? Future.succeededFuture()
        : ask(next, 1, 1, new HashMap<>()).compose(asked -> lane());
  }

  /**
   * Requests some users and follows the answer's pages.
   *
   * @param startIndex the first result wanted, from 1
   * @param users the users of earlier pages, by user name in lower case
   */
  private Future<Void> ask(
      List<Member> members, int startIndex, int page, Map<String, List<User>> users) {
    return client
        .request(options(members, startIndex))
        .compose(this::send)
        .compose(
            body -> {
              ScimPage answer = ScimPage.parse(body, config.lastLogin());
              answer
                  .users()
                  .forEach(
                      (name, same) ->
                          users.computeIfAbsent(name, first -> new ArrayList<>()).addAll(same));
              int next = startIndex + answer.resources();
              if (answer.resources() > 0 && next <= answer.total() && page < MAX_PAGES) {
                return ask(members, next, page + 1, users);
              }
              for (Member member : members) {
                found.put(
                    PersonKey.about(member),
                    theirs(member, users.getOrDefault(Text.folded(member.username()), List.of())));
              }
              return Future.succeededFuture();
            });
  }

  /**
   * Returns the member's user among the users with the member's name. A username is unique only
   * within its organization, and a directory serves several organizations, so an address must match
   * too. Empty if no user matches, or several that differ.
   */
  private static Optional<Person> theirs(Member member, List<User> sameName) {
    String address = Text.folded(member.email());
    List<Person> same =
        sameName.stream()
            .filter(user -> user.addresses().contains(address))
            .map(User::person)
            .distinct()
            .toList();
    return same.size() == 1 ? Optional.of(same.get(0)) : Optional.empty();
  }

  private RequestOptions options(List<Member> members, int startIndex) {
    String filter =
        members.stream()
            .map(member -> "userName eq " + Json.encode(member.username()))
            .collect(Collectors.joining(" or "));
    String attributes = "userName,emails,displayName,name,active";
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setAbsoluteURI(
                "%s/Users?filter=%s&attributes=%s&startIndex=%d&count=%d"
                    .formatted(
                        config.url(),
                        encoded(filter),
                        encoded(
                            config.lastLogin().isEmpty()
                                ? attributes
                                : attributes + ',' + config.lastLogin()),
                        startIndex,
                        USERS_PER_REQUEST))
            .setTimeout(config.timeoutMillis())
            .putHeader("accept", "application/scim+json, application/json;q=0.9");
    return config.token().isEmpty()
        ? options
        : options.putHeader("authorization", "Bearer " + config.token());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private Future<Buffer> send(HttpClientRequest request) {
    if (ended.future().isComplete()) {
      request.reset();
      return Future.failedFuture("the look-up has ended");
    }
    open.add(request);
    return request
        .send()
        .compose(response -> body(request, response))
        .andThen(
            received -> {
              open.remove(request);
              if (received.failed()) {
                // Discards the rest of the answer.
                request.reset();
              }
            });
  }

  private static Future<Buffer> body(HttpClientRequest request, HttpClientResponse response) {
    if (response.statusCode() != 200) {
      return Future.failedFuture("status " + response.statusCode());
    }
    Promise<Buffer> whole = Promise.promise();
    Buffer collected = Buffer.buffer();
    response.handler(
        piece -> {
          if (collected.length() + piece.length() > MAX_BYTES) {
            request.reset();
            whole.tryFail("the answer is over " + MAX_BYTES + " bytes");
          } else {
            collected.appendBuffer(piece);
          }
        });
    response.exceptionHandler(whole::tryFail);
    response.endHandler(end -> whole.tryComplete(collected));
    return whole.future();
  }
}
