package dev.bourse.simulation.hostile;

import dev.bourse.simulation.hostile.Mutation.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Sends a service mutations of accepted requests, one at a time and in pairs, and records faults of
 * the answers.
 */
public final class Fuzzer implements AutoCloseable {
  /** Time after which a service counts as dead, even on a busy machine. */
  public static final int PATIENCE_MILLIS = 20_000;

  /** More would not be read. */
  private static final int MOST_FINDINGS = 40;

  /** Interval, in requests, of a check that the service still answers a plain one. */
  private static final int PLAIN_EVERY = 50;

  /** A member with more attempts is throttled. */
  private static final int MOST_USES = 25;

  /** How much of a sample is tried: mutations of each kind, and pairs of any. */
  public record Effort(int ofEachKind, int pairs) {
    /** Every single mutation. */
    public static final Effort ALL = new Effort(Integer.MAX_VALUE, 200);
  }

  private final Target world;
  private final LoopHoldProbe probe;
  private final long seed;
  private final Oracle oracle;
  private final Wire wire;
  private final Wire plain;

  /** The time in which unawaited effects of a request are complete. */
  private final long lateNanos;

  private final Map<Integer, Integer> statuses = new TreeMap<>();
  private final Map<String, Set<Kind>> covered = new TreeMap<>();
  private final List<String> findings = new ArrayList<>();
  private final Set<String> known = new HashSet<>();
  private Map<String, String> stored;
  private int sent;
  private int uses;
  private long unansweredAt;
  private long slowestNanos;
  private String slowest = "";

  /**
   * @param patienceMillis time-out of an answer
   */
  public Fuzzer(Target world, LoopHoldProbe probe, long seed, int patienceMillis)
      throws IOException {
    this.world = world;
    this.probe = probe;
    this.seed = seed;
    this.oracle = new Oracle(world);
    this.lateNanos = TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    this.unansweredAt = System.nanoTime() - lateNanos;
    this.wire = new Wire(world.port(), patienceMillis);
    this.plain = new Wire(world.port(), patienceMillis);
    this.stored = world.stored();
  }

  /** Tries a sample; the same seed finds the same faults. */
  public void attack(String name, Supplier<AcceptedRequest> samples, Effort effort)
      throws IOException {
    Random random = new Random(seed ^ name.hashCode());
    AcceptedRequest sample = samples.get();
    stored = world.stored();
    Draft sound = new Draft(sample, address());
    // Mutations of a rejected sample would test little.
    boolean accepted = send(sound, "nothing changed").first().isAccepted();
    if (!accepted && sample.isAccepted()) {
      found(sound, sound.request(), "nothing changed", "the sample itself is refused");
    }
    sample = samples.get();
    stored = world.stored();
    List<Mutation> singles = new ArrayList<>(Mutations.of(sample));
    Collections.shuffle(singles, random);
    // Requests that may stay unanswered and be executed later come last.
    singles.sort(Comparator.comparing(mutation -> mutation.kind() == Kind.FRAMING));
    Map<Kind, Integer> tried = new EnumMap<>(Kind.class);
    for (Mutation mutation : singles) {
      int already = tried.getOrDefault(mutation.kind(), 0);
      if (already < effort.ofEachKind()) {
        tried.put(mutation.kind(), already + 1);
        sample = attempt(samples, sample, List.of(mutation));
      }
    }
    for (int i = 0; i < Math.min(effort.ofEachKind(), 200); i++) {
      sample = attempt(samples, sample, List.of(Mutations.random(random.nextLong())));
    }
    for (int i = 0; i < effort.pairs(); i++) {
      Mutation one = singles.get(random.nextInt(singles.size()));
      Mutation other = singles.get(random.nextInt(singles.size()));
      sample = attempt(samples, sample, List.of(one, other));
    }
  }

  /** Returns a new address for each request, so that no request uses up another's budget. */
  private String address() {
    return "10." + (sent >> 16) % 256 + '.' + (sent >> 8) % 256 + '.' + sent % 256;
  }

  /** Returns the sample for the next mutation. */
  private AcceptedRequest attempt(
      Supplier<AcceptedRequest> samples, AcceptedRequest sample, List<Mutation> mutations)
      throws IOException {
    Draft draft = new Draft(sample, address());
    StringBuilder name = new StringBuilder();
    for (Mutation mutation : mutations) {
      mutation.change().accept(draft);
      name.append(name.length() > 0 ? " and " : "").append(mutation.name());
      covered.computeIfAbsent(sample.name(), n -> new HashSet<>()).add(mutation.kind());
    }
    Outcome outcome = send(draft, name.toString());
    boolean mayHaveWritten =
        outcome.answers().isEmpty() || outcome.answers().stream().anyMatch(WireAnswer::isAccepted);
    boolean isRead =
        !sample.operation().isWrite() && sample.operation().method().equals(draft.method);
    if ((isRead || !mayHaveWritten) && ++uses < MOST_USES) {
      return sample;
    }
    // It may be used up.
    uses = 0;
    AcceptedRequest fresh = samples.get();
    stored = world.stored();
    return fresh;
  }

  private Outcome send(Draft draft, String name) throws IOException {
    Request request = draft.request();
    probe.during(draft.sample.name() + " with " + name);
    Outcome outcome = wire.send(request);
    if (!request.isWhole() && outcome.answers().isEmpty()) {
      unansweredAt = System.nanoTime();
    }
    for (WireAnswer answer : outcome.answers()) {
      statuses.merge(answer.status(), 1, Integer::sum);
    }
    if (outcome.nanos() > slowestNanos && request.isWhole()) {
      slowestNanos = outcome.nanos();
      slowest = draft.sample.name() + " with " + name;
    }
    for (String fault : oracle.faults(draft, request, outcome)) {
      found(draft, request, name, fault + "\n    answer: " + shown(outcome));
    }
    boolean isRefused =
        !outcome.answers().isEmpty()
            && outcome.answers().stream().noneMatch(WireAnswer::isAccepted);
    if (isRefused && (draft.sample.operation().isWrite() || !draft.method.equals("GET"))) {
      leavesNothing(draft, request, name);
    }
    if (++sent % PLAIN_EVERY == 0) {
      stillServes(draft, request, name);
    }
    return outcome;
  }

  private void leavesNothing(Draft draft, Request request, String name) throws IOException {
    Map<String, String> now = world.stored();
    if (!now.equals(stored) && System.nanoTime() - unansweredAt < lateNanos) {
      // The change may be another request's, whose answer was not awaited: try once more.
      stored = now;
      wire.send(request);
      now = world.stored();
    }
    if (!now.equals(stored)) {
      List<String> changed = new ArrayList<>();
      for (Map.Entry<String, String> entry : now.entrySet()) {
        if (!entry.getValue().equals(stored.get(entry.getKey()))) {
          changed.add(entry.getKey());
        }
      }
      stored = now;
      found(draft, request, name, "refused, and yet something was written to " + changed);
    }
  }

  private void stillServes(Draft draft, Request request, String name) throws IOException {
    Outcome outcome =
        plain.send(
            new Request(
                "GET",
                "/nothing-here",
                Tree.bytes("GET /nothing-here HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
                true));
    if (outcome.first().status() != 404) {
      found(draft, request, name, "afterwards a plain request gets " + shown(outcome));
    }
  }

  private static String shown(Outcome outcome) {
    StringBuilder out = new StringBuilder();
    for (WireAnswer answer : outcome.answers().subList(0, Math.min(3, outcome.answers().size()))) {
      String text = answer.text();
      out.append(answer.status())
          .append(' ')
          .append(answer.headers())
          .append(' ')
          .append(text, 0, Math.min(text.length(), 400))
          .append(' ');
    }
    return out.append(outcome.fault()).toString();
  }

  private void found(Draft draft, Request request, String name, String fault) {
    // One fault of each kind is enough.
    String code = fault.replaceAll("(?s).*?\"error\":\"([a-z_-]+)\".*|.*", "$1");
    String words = fault.replaceAll("(?s)[{\n].*|[0-9]+ ms", "").replaceAll("/\\S*", "");
    String kind = draft.sample.name() + ' ' + words + ' ' + code;
    if (findings.size() >= MOST_FINDINGS || !known.add(kind)) {
      return;
    }
    findings.add(
        String.format(
            "%s with %s: %s%n    request: %s%n    replay: scripts/hostile --seed %d --only %s",
            draft.sample.name(), name, fault, request.command(), seed, draft.sample.name()));
  }

  /** Returns the faults, one of each kind. */
  public List<String> findings() {
    return List.copyOf(findings);
  }

  /** Returns the samples that were tried. */
  public Set<String> tried() {
    return Set.copyOf(covered.keySet());
  }

  /** Returns the kinds of mutation that a sample was tried with. */
  public Set<String> kinds(String sample) {
    Set<String> names = new HashSet<>();
    covered.getOrDefault(sample, Set.of()).forEach(kind -> names.add(kind.name()));
    return names;
  }

  /** Summarizes the requests, the answers by status, and the slowest answers. */
  public String summary() {
    return String.format(
        "%d requests with seed %d; answers by status: %s; slowest %.0f ms: %s",
        sent, seed, statuses, slowestNanos / 1e6, slowest);
  }

  @Override
  public void close() throws IOException {
    wire.close();
    plain.close();
  }
}
