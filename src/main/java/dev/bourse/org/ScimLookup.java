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
 * One look-up of users in a SCIM directory: its requests share one deadline, and all end when it
 * passes or one of them fails. Lives on one context.
 */
final class ScimLookup {
  /** Requests at a time. */
  static final int LANES = 4;

  /** Users of one request: a filter of some 2 KB once encoded, within any server's bound. */
  private static final int USERS_PER_REQUEST = 20;

  /** Users of one look-up; of a larger roster the others are asked for when it is read again. */
  private static final int MAX_USERS = 1_000;

  /** Pages followed of one filter: user names are unique, so a server has no reason for more. */
  private static final int MAX_PAGES = 4;

  /** Longest answer: 20 users at 10 KB each, far over what their few attributes need. */
  private static final int MAX_BYTES = 200 * 1_024;

  /** Whom a directory is asked about: what it says of one is said of nobody of another address. */
  record Asked(String username, String email) {
    static Asked about(Member member) {
      return new Asked(member.username(), member.email());
    }
  }

  private final Vertx vertx;
  private final HttpClient client;
  private final ScimConfig config;
  private final Deque<List<Member>> waiting = new ArrayDeque<>();
  private final Set<HttpClientRequest> open = new HashSet<>();
  private final Map<Asked, Optional<Person>> found = new HashMap<>();
  private final Promise<Void> ended = Promise.promise();

  ScimLookup(Vertx vertx, HttpClient client, ScimConfig config, List<Member> members) {
    this.vertx = vertx;
    this.client = client;
    this.config = config;
    waiting.addAll(
        Slices.of(members.subList(0, Math.min(members.size(), MAX_USERS)), USERS_PER_REQUEST));
  }

  /** Succeeds when all were asked for, fails when the directory does; either way in time. */
  Future<Void> ended() {
    return ended.future();
  }

  /** What was learned by the end: of each member the person, or that there is none. */
  Map<Asked, Optional<Person>> found() {
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
   * Asks for some users and follows the answer's pages.
   *
   * @param startIndex the first result wanted, from 1
   * @param users what earlier pages told, by user name in small letters
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
                    Asked.about(member),
                    theirs(member, users.getOrDefault(Text.folded(member.username()), List.of())));
              }
              return Future.succeededFuture();
            });
  }

  /**
   * The one among users of a member's name who is the member: a username is unique in its
   * organization alone, and a directory has the users of several, so an address must be the
   * member's, too. Empty when none is, and when several are who differ, as nobody can tell then
   * which.
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
                // Whatever it still sends is not read.
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
