import FoundationEssentials
import Locking

/// The users, kept in the index. Any thread may call it.
///
/// There is one project, whatever project a caller names.
final class Accounts: Sendable {
    private let index: ObjectIndex
    private let hidesWhichPart = Lock(false)

    init(index: ObjectIndex) { self.index = index }

    /// Whether a failed sign-in keeps to itself if the address or the password was wrong. Not kept over a restart.
    var protectsAddresses: Bool {
        get { hidesWhichPart.withLock { $0 } }
        set { hidesWhichPart.withLock { $0 = newValue } }
    }

    func account(id: String) throws(APIError) -> Account? {
        try index.read { (database) throws(APIError) in try database.account("id", id) }
    }

    /// - Parameter email: lower case.
    func account(email: String) throws(APIError) -> Account? {
        try index.read { (database) throws(APIError) in try database.account("email", email) }
    }

    /// Changes an account, or makes one.
    /// - Parameter edit: is given the account as it is now, nil if there is none; what it answers is kept.
    /// - Throws: `EMAIL_EXISTS` when another account has the address.
    func change(
        id: String, _ edit: (Account?) throws(APIError) -> Account
    ) throws(APIError) -> (account: Account, isNew: Bool) {
        try index.write { (database) throws(APIError) in
            let known = try database.account("id", id)
            let account = try edit(known)
            if let email = account.email, let owner = try database.account("email", email), owner.id != id {
                throw .auth("EMAIL_EXISTS")
            }
            try database.put(account)
            return (account, known == nil)
        }
    }

    func remove(id: String) throws(APIError) {
        try index.write { (database) throws(APIError) in
            let delete = try database.statement("DELETE FROM accounts WHERE id = ?")
            delete.bind(1, id)
            try delete.run()
        }
    }

    func removeAll() throws(APIError) {
        try index.write { (database) throws(APIError) in try database.run("DELETE FROM accounts") }
    }
}

extension Database {
    fileprivate func account(_ column: String, _ value: String) throws(APIError) -> Account? {
        let select = try statement("SELECT state FROM accounts WHERE \(column) = ?")
        defer { select.reset() }
        select.bind(1, value)
        guard try select.step() else { return nil }
        guard let account = try? JSONDecoder().decode(Account.self, from: Data(select.bytes(0))) else {
            throw .backend("The account of the \(column) \(value) cannot be read.")
        }
        return account
    }

    fileprivate func put(_ account: Account) throws(APIError) {
        guard let state = try? JSONEncoder().encode(account) else { throw .backend("An account cannot be written.") }
        let insert = try statement("INSERT OR REPLACE INTO accounts (id, email, state) VALUES (?, ?, ?)")
        insert.bind(1, account.id)
        insert.bind(2, account.email)
        insert.bind(3, Array(state))
        try insert.run()
    }
}
