import Testing

@testable import CloudStorage

/// docs/CLOUDSTORAGE.md, tasks: states, calls, and what comes of them.
struct TaskMachineTests {
    typealias State = TaskMachine.State

    /// How each state is reached.
    private static func machine(_ kind: TaskMachine.Kind, in state: State) -> TaskMachine {
        var machine = TaskMachine(kind)
        func take(_ calls: TaskMachine.Call...) { for call in calls { _ = machine.handle(call) } }
        func hear(_ news: TaskMachine.News...) { for item in news { _ = machine.handle(item) } }
        if state != .unknown { take(.enqueue) }
        if state != .unknown, state != .queueing { hear(.started) }
        switch state {
        case .unknown, .queueing, .running: break
        case .progress: hear(.progressed)
        // An upload that has begun never pauses in two steps.
        case .pausing: take(.pause)
        case .paused:
            take(.pause)
            hear(.stopped)
        case .completing: hear(.progressed, .arrived)
        case .success: hear(.progressed, .arrived, .succeeded)
        case .failed: hear(.failed)
        case .cancelled: take(.cancel)
        }
        return machine
    }

    private static let kinds: [(TaskMachine.Kind, [State])] = [
        (.upload, State.allCases.filter { $0 != .pausing }), (.download, State.allCases),
    ]

    @Test func everyStateCanBeReached() {
        for (kind, states) in Self.kinds {
            for state in states { #expect(Self.machine(kind, in: state).state == state, "\(kind)") }
        }
    }

    @Test(arguments: [
        (State.unknown, StorageTaskStatus.unknown), (.queueing, .resume), (.running, .resume), (.progress, .progress),
        (.pausing, .pause), (.paused, .pause), (.completing, .success), (.success, .success), (.failed, .failure),
        (.cancelled, .failure),
    ])
    func everyStateHasItsPublicStatus(state: State, status: StorageTaskStatus) {
        #expect(Self.machine(.download, in: state).status == status)
    }

    @Test(arguments: [State.unknown, .queueing, .running, .progress])
    func anUploadPausesAtOnce(from state: State) {
        var machine = Self.machine(.upload, in: state)
        let isStarted = machine.isStarted
        #expect(machine.handle(.pause) == .init(events: [.pause], action: isStarted ? .stop : nil))
        #expect(machine.state == .paused)
    }

    @Test(arguments: [State.running, .progress])
    func aDownloadPausesWhenItsTransferHasStopped(from state: State) {
        var machine = Self.machine(.download, in: state)
        #expect(machine.handle(.pause) == .init(events: [], action: .stop))
        #expect(machine.state == .pausing)
        #expect(machine.handle(TaskMachine.News.progressed) == .ignored)
        #expect(machine.handle(.stopped) == .init(events: [.pause]))
        #expect(machine.state == .paused)
    }

    @Test(arguments: [State.unknown, .queueing])
    func aDownloadThatHasNotStartedPausesAtOnce(from state: State) {
        var machine = Self.machine(.download, in: state)
        #expect(machine.handle(.pause) == .init(events: [.pause]))
        #expect(machine.state == .paused)
        #expect(machine.handle(.started) == .ignored)
    }

    @Test(arguments: [State.pausing, .paused, .completing])
    func pausingIsIgnoredIn(state: State) {
        var machine = Self.machine(.download, in: state)
        #expect(machine.handle(.pause) == .ignored)
        #expect(machine.state == state)
    }

    private static let resumptions: [(State, TaskMachine.Action?)] = [
        (.unknown, .start), (.queueing, .start), (.pausing, nil), (.paused, .goOn), (.progress, nil),
    ]

    @Test(arguments: resumptions)
    func resumingTellsAndRuns(from state: State, action: TaskMachine.Action?) {
        for (kind, states) in Self.kinds where states.contains(state) {
            var machine = Self.machine(kind, in: state)
            #expect(machine.handle(.resume) == .init(events: [.resume], action: action))
            #expect(machine.state == .running)
        }
    }

    @Test(arguments: [State.running, .completing])
    func resumingIsIgnoredIn(state: State) {
        for (kind, _) in Self.kinds {
            var machine = Self.machine(kind, in: state)
            #expect(machine.handle(.resume) == .ignored)
            #expect(machine.state == state)
        }
    }

    @Test func aTaskThatWasPausedBeforeItStartedStartsWhenItIsResumed() {
        for (kind, _) in Self.kinds {
            var machine = Self.machine(kind, in: .queueing)
            _ = machine.handle(.pause)
            #expect(machine.handle(.resume) == .init(events: [.resume], action: .start))
        }
    }

    @Test func aTransferThatStopsAfterItWasResumedGoesOn() {
        var machine = Self.machine(.download, in: .pausing)
        _ = machine.handle(.resume)
        #expect(machine.handle(.stopped) == .init(action: .goOn))
        #expect(machine.state == .running)
    }

    @Test func cancellingEndsWhatHasNotEnded() {
        for (kind, states) in Self.kinds {
            for state in states where !Self.machine(kind, in: state).hasEnded {
                var machine = Self.machine(kind, in: state)
                let isStarted = machine.isStarted
                #expect(machine.handle(.cancel) == .init(events: [.failure], action: isStarted ? .abandon : nil))
                #expect(machine.state == .cancelled)
            }
        }
    }

    @Test(arguments: [State.success, .failed, .cancelled])
    func nothingHappensToWhatHasEnded(state: State) {
        for (kind, _) in Self.kinds {
            for call in TaskMachine.Call.allCases {
                var machine = Self.machine(kind, in: state)
                #expect(machine.handle(call) == .ignored)
                #expect(machine.state == state)
            }
            for news in TaskMachine.News.allCases {
                var machine = Self.machine(kind, in: state)
                #expect(machine.handle(news) == .ignored)
                #expect(machine.state == state)
            }
        }
    }

    @Test func theEndIsToldAfterALastProgress() {
        for (kind, states) in Self.kinds {
            for state in states where !Self.machine(kind, in: state).hasEnded {
                var success = Self.machine(kind, in: state)
                #expect(success.handle(.succeeded) == .init(events: [.progress, .success]))
                var failure = Self.machine(kind, in: state)
                #expect(failure.handle(.failed) == .init(events: [.progress, .failure]))
            }
        }
    }

    @Test func itIsToldThatATaskHasStarted() {
        for (kind, _) in Self.kinds {
            var machine = Self.machine(kind, in: .queueing)
            #expect(machine.handle(.started) == .init(events: [.resume], action: .start))
        }
    }

    @Test(arguments: [
        (StorageTaskStatus.pause, [State.pausing, .paused]), (.resume, [.running]), (.progress, [.running, .progress]),
        (.success, [.success]), (.failure, [.failed]), (.unknown, []),
    ])
    func anObserverThatComesLateIsToldOfWhatIs(status: StorageTaskStatus, states: [State]) {
        for state in State.allCases {
            #expect(Self.machine(.download, in: state).isLate(for: status) == states.contains(state), "\(state)")
        }
    }
}
