package dev.bourse.simulation;

import dev.bourse.nodes.BaselineReview;
import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Holding;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.MachineTerms;
import dev.bourse.nodes.NodeNotice;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.ReimageOrder;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** Bugs of a node provider. */
enum MachineBug implements Bug {
  /** A machine that is marked for another allocation is prepared and cleaned anyway. */
  MACHINE_FORGETS_ITS_MARK {
    @Override
    public NodeProvider around(NodeProvider provider, World world) {
      world.machines.heedMarks = false;
      return provider;
    }
  },

  /** An unreachable machine is reported as free. */
  UNKNOWN_MACHINE_IS_FREE {
    @Override
    public NodeProvider around(NodeProvider provider, World world) {
      return new Forwarding(provider) {
        @Override
        public Future<List<Holding>> held(List<Machine> machines) {
          return super.held(machines)
              .otherwise(List.of())
              .map(known -> withUnknown(known, machines));
        }
      };
    }

    private List<Holding> withUnknown(List<Holding> known, List<Machine> machines) {
      Set<String> answered = new HashSet<>();
      known.forEach(holding -> answered.add(holding.nodeId()));
      List<Holding> all = new ArrayList<>(known);
      for (Machine machine : machines) {
        if (!answered.contains(machine.nodeId())) {
          all.add(new Holding(machine.nodeId(), null));
        }
      }
      return all;
    }
  },

  /** A reclaim is reported as done when it begins. */
  RECLAIM_ANSWERED_EARLY {
    @Override
    public NodeProvider around(NodeProvider provider, World world) {
      return new Forwarding(provider) {
        @Override
        public Future<Cleaning> reclaim(Machine machine, String allocationId) {
          super.reclaim(machine, allocationId);
          return Future.succeededFuture(Cleaning.UNRECORDED);
        }
      };
    }
  };

  /** A provider that delegates to another. */
  static class Forwarding implements NodeProvider {
    private final NodeProvider provider;

    Forwarding(NodeProvider provider) {
      this.provider = provider;
    }

    @Override
    public Future<Void> provision(
        Machine machine, String allocationId, List<String> publicKeys, MachineTerms terms) {
      return provider.provision(machine, allocationId, publicKeys, terms);
    }

    @Override
    public Future<Cleaning> reclaim(Machine machine, String allocationId) {
      return provider.reclaim(machine, allocationId);
    }

    @Override
    public Future<Examination> examine(Machine machine, MachineTerms terms) {
      return provider.examine(machine, terms);
    }

    @Override
    public OptionalLong reimageTimeoutMillis() {
      return provider.reimageTimeoutMillis();
    }

    @Override
    public boolean canReimage() {
      return provider.canReimage();
    }

    @Override
    public Future<String> reimage(Machine machine, ReimageOrder order) {
      return provider.reimage(machine, order);
    }

    @Override
    public Future<Long> deliverNotice(
        Machine machine, String allocationId, NodeNotice notice, long sequence) {
      return provider.deliverNotice(machine, allocationId, notice, sequence);
    }

    @Override
    public Future<BaselineReview> reviewBaseline(Machine machine) {
      return provider.reviewBaseline(machine);
    }

    @Override
    public Future<Void> acceptBaseline(Machine machine, String digest) {
      return provider.acceptBaseline(machine, digest);
    }

    @Override
    public Future<List<Holding>> held(List<Machine> machines) {
      return provider.held(machines);
    }

    @Override
    public Future<Void> probe(Machine machine) {
      return provider.probe(machine);
    }

    @Override
    public Future<Void> close() {
      return provider.close();
    }
  }
}
