// Generated from openapi/v1.json by `npm run sdk:types`. Do not edit.

export interface components {
    schemas: {
        Region: {
            id: string;
            name: string;
            slug: string;
            /** @description ISO 3166 alpha-2 */
            country: string;
            city: string;
            /** @description The flag as an emoji */
            flag: string;
            available: boolean;
        };
        Plan: {
            id: string;
            slug: string;
            name: string;
            vcpu: number;
            /** @description MiB */
            ram: number;
            /** @description GiB */
            disk: number;
            /**
             * @description Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it
             * @enum {unknown}
             */
            storage: "LOCAL" | "REPLICATED";
            /** @description GB (10^9 bytes) per billing month; 0 = unmetered */
            bandwidth: number;
            /** @description Mbit/s */
            networkSpeed: number;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            priceMonthly: string;
            currency: string;
            /** @description Of each GiB of snapshots and on-demand backups, a month; 0.00 = free */
            copyPriceMonthly: string;
            /** @description How much less a VM without a public IPv4 address costs a month (publicIpv4) */
            ipv4PriceMonthly: string;
            /** @description What a VM with a public IPv4 address costs a month while it is shelved, its snapshots and backups apart */
            shelvedPriceMonthly: string;
            /** @description Mbit/s once the bandwidth is used up */
            throttleMbps: number;
            /** @description Disk operations a second, reads and writes together; null = unlimited */
            diskIops: number | null;
            /** @description MiB a second to and from the disk together; null = unlimited */
            diskMiBPerSecond: number | null;
            /** @description True where each vCPU is a CPU of the host that no other VM has; false where they are shared */
            dedicatedCpu: boolean;
            /** @description What the hosts of its VMs have, such as 10g, or words of the operator such as gpu */
            traits: string[];
            /** @description False where it is not sold, or no host is large enough for it and has its traits */
            available: boolean;
            /** @description Slugs of the regions it is sold in */
            regions: string[];
        };
        OsTemplate: {
            id: string;
            slug: string;
            name: string;
            version: string;
            distribution: string;
            /** @description Of its VMs: x86_64 or aarch64 */
            arch: string;
            /**
             * @description Of its VMs; secure-boot: UEFI that starts only what is signed
             * @enum {unknown}
             */
            firmware: "bios" | "uefi" | "secure-boot";
            /** @description Whether its VMs have a TPM 2.0 */
            tpm: boolean;
            /** @description GiB */
            minDisk: number;
            /** @description MiB */
            minRam: number;
            defaultUser: string;
            cloudInit: boolean;
            /** @description Bytes as a decimal string */
            sizeBytes: string;
            checksum: string;
            available: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            deprecatedAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        Budget: {
            /** @description Decimal with two places; null = no limit */
            monthlyAmount: string | null;
            maxVms: number | null;
            labelSelector: string | null;
            /** @description What was charged through it in this calendar month (UTC), renewals included, less what was given back */
            used: string;
            /** @description What can still be charged this month: no more than is left to the tokens that it was made with */
            remaining: string | null;
            /** @description VMs that were created through it and exist */
            vms: number;
        };
        Account: {
            id: string;
            /** @description Null of a project */
            email: string | null;
            name: string;
            /** @description Whether another account pays for it: what it costs and its limits are those of that account */
            isProject: boolean;
            /** @description Whether members without two-factor authentication can do nothing in the account */
            requireTwoFactor: boolean;
            budget: components["schemas"]["Budget"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        AccountLimit: {
            /** @description vms, vcpu, ram (MiB), disk (GiB), copies (GiB of snapshots and backups), projects, networks, addresses, images, imageStorage (GiB of images), failedImportGibPerDay (GiB that imports of images that failed received and unpacked in 24 hours), volumes, volumeStorage (GiB), firewalls, rulesPerFirewall, snapshotsPerVm, snapshotsPerVolume, webhooks, sshKeys, tokens, openTickets or repliesPerTicket; others may follow */
            name: string;
            /** @description The most the account, or each single thing, may hold */
            limit: number;
            /** @description How much of it is in use; null where the limit holds for each single thing */
            used: number | null;
        };
        Member: {
            /** @description Of the person; the same in the audit log */
            id: string;
            email: string;
            name: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "billing" | "read-only" | "custom";
            /** @description What the role allows */
            scopes: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            twoFactorEnabled: boolean;
            /** @description Of a project: as owner or admin of the account that pays, where it can be changed */
            inherited: boolean;
            budget: components["schemas"]["Budget"] | null;
        };
        Pagination: {
            page: number;
            limit: number;
            total: number;
            totalPages: number;
        };
        ChangedMember: {
            /** @description Of the person; the same in the audit log */
            id: string;
            email: string;
            name: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "billing" | "read-only" | "custom";
            /** @description What the role allows */
            scopes: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            twoFactorEnabled: boolean;
            /** @description Of a project: as owner or admin of the account that pays, where it can be changed */
            inherited: boolean;
            budget: components["schemas"]["Budget"] | null;
            /** @description Of API tokens that the person had made and that could do more than the person can now: they stopped working */
            revokedTokenIds: string[];
        };
        RemovedMember: {
            id: string;
            /** @constant */
            deleted: true;
            /** @description Of API tokens that the person had made and that could do more than the person can now: they stopped working */
            revokedTokenIds: string[];
        };
        BudgetLimits: {
            /** @description Decimal with two places; null = no limit */
            monthlyAmount: string | null;
            maxVms: number | null;
            labelSelector: string | null;
        };
        Invitation: {
            id: string;
            email: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "billing" | "read-only" | "custom";
            /** @description What the role allows */
            scopes: string[];
            budget: components["schemas"]["BudgetLimits"] | null;
            /** @description E-mail address of the person, or name of the token */
            invitedBy: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expiresAt: string;
        };
        NewInvitation: {
            id: string;
            email: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "billing" | "read-only" | "custom";
            /** @description What the role allows */
            scopes: string[];
            budget: components["schemas"]["BudgetLimits"] | null;
            /** @description E-mail address of the person, or name of the token */
            invitedBy: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expiresAt: string;
            /** @description The link, shown this once where no mail can be sent: hand it over yourself. Otherwise null: it is mailed */
            url: string | null;
        };
        DeletedInvitation: {
            id: string;
            /** @constant */
            deleted: true;
        };
        ActionInitialization: {
            /**
             * @description What came of userData. PENDING: the guest has not said anything yet. UNSUPPORTED: the image has no cloud-init, or no guest agent to ask. UNKNOWN: the guest did not say within 24 hours
             * @enum {unknown}
             */
            status: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNSUPPORTED" | "UNKNOWN";
            /** @description From the start of cloud-init to its end; null before, and where the guest does not say */
            seconds: number | null;
            /** @description What went wrong, as the guest says: at most 10 */
            errors: string[];
            /** @description The last lines that cloud-init has written, at most 4,096 characters; null until it has ended */
            output: string | null;
        };
        Action: {
            id: string;
            /** @description The VM; of an action of a floating address the one that gets it, or else loses it; empty for an image that is imported and a volume that is detached */
            vmId: string;
            /** @description Only of an action of a floating address */
            addressId: string | null;
            /** @description Only of an action of a volume */
            volumeId: string | null;
            /** @description Only of an action of an image */
            imageId: string | null;
            /** @description CREATE, START, STOP, RESTART, UPGRADE, REBUILD, DELETE, … */
            action: string;
            /** @enum {unknown} */
            status: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";
            progress: number;
            /** @description Why it failed or was cancelled */
            error: string | null;
            errorCode: string | null;
            steps: {
                name: string;
                /** @enum {unknown} */
                status: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNDONE";
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                startedAt: string | null;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                completedAt: string | null;
            }[];
            initialization: components["schemas"]["ActionInitialization"] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completedAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        VmListItem: {
            id: string;
            name: string;
            hostname: string;
            /** @enum {unknown} */
            status: "PROVISIONING" | "RUNNING" | "STOPPED" | "SUSPENDED" | "REBUILDING" | "UPGRADING" | "UNMANAGED" | "ERROR";
            vcpu: number;
            /** @description MiB */
            ram: number;
            /** @description GiB */
            disk: number;
            /**
             * @description Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it
             * @enum {unknown}
             */
            storage: "LOCAL" | "REPLICATED";
            /** @description Each vCPU is a CPU of the host that no other VM has */
            dedicatedCpu: boolean;
            /** @description GB (10^9 bytes) per billing month; 0 = unmetered */
            bandwidth: number;
            /** @description Mbit/s */
            networkSpeed: number;
            network10gEnabled: boolean;
            dailyBackupEnabled: boolean;
            isProtected: boolean;
            /** @description Whether it has, or is to have, a public IPv4 address */
            publicIpv4: boolean;
            /** @description The public IPv4 address; null while none is assigned, and without publicIpv4 */
            ipAddress: string | null;
            /** @description Null where the region has no IPv6, and until the next rebuild of a VM from before */
            ipv6Address: string | null;
            /** @description The /64 of its own, with ipv6Address in it; null where it has that address alone */
            ipv6Prefix: string | null;
            region: {
                slug: string;
                name: string;
            };
            plan: {
                slug: string;
                name: string;
                /** @description Decimal with two places, for example "12.00"; debits are negative */
                priceMonthly: string;
            };
            osTemplate: {
                slug: string;
                name: string;
                version: string;
                arch: string;
            };
            billing: {
                /**
                 * Format: date-time
                 * @description Nothing is charged then while status is CANCELLED (it failed to provision), and of an UNMANAGED VM
                 */
                nextRenewalAt: string;
                /** @enum {unknown} */
                status: "ACTIVE" | "PAST_DUE" | "SUSPENDED" | "CANCELLED";
                /** @description What the next renewal will charge, add-ons included */
                priceMonthly: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Since when it is shelved: on no host, STOPPED, and paid for its disk and addresses only
             */
            shelvedAt: string | null;
            /**
             * Format: date-time
             * @description Since when its host does not answer: `status` is what was known then. Null: it answers
             */
            hostUnreachableSince: string | null;
        };
        VmEventData: {
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        VmEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "vm.created" | "vm.started" | "vm.stopped" | "vm.restarted" | "vm.suspended" | "vm.terminated" | "vm.provisioning" | "vm.error" | "vm.upgrading" | "vm.upgraded" | "vm.upgrade_failed" | "vm.resizing" | "vm.resized" | "vm.resize_failed" | "vm.rebuilding" | "vm.rebuilt" | "vm.rebuild_failed" | "vm.shelved" | "vm.shelve_failed" | "vm.unshelved" | "vm.unshelve_failed" | "vm.rescue_started" | "vm.rescue_failed" | "vm.rescue_expired" | "vm.rescue_ended" | "vm.recovered" | "vm.lost" | "vm.migrated" | "vm.unsuspended" | "vm.unmanaged" | "vm.adopted" | "vm.renewed" | "vm.past_due" | "bandwidth.throttled" | "bandwidth.unthrottled";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["VmEventData"];
        };
        IsoEventData: {
            iso: {
                imageId: string;
                name: string;
            };
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        IsoEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "vm.iso_attached" | "vm.iso_detached";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["IsoEventData"];
        };
        /** @description Of a VM with userData */
        Initialization: {
            /**
             * @description What came of userData. PENDING: the guest has not said anything yet. UNSUPPORTED: the image has no cloud-init, or no guest agent to ask. UNKNOWN: the guest did not say within 24 hours
             * @enum {unknown}
             */
            status: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNSUPPORTED" | "UNKNOWN";
            /** @description From the start of cloud-init to its end; null before, and where the guest does not say */
            seconds: number | null;
            /** @description What went wrong, as the guest says: at most 10 */
            errors: string[];
        };
        InitializationEventData: {
            initialization: components["schemas"]["Initialization"];
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        InitializationEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "vm.initialized" | "vm.initialization_failed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["InitializationEventData"];
        };
        NetworkEventData: {
            network: {
                id: string;
            };
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        NetworkEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "vm.network_attached" | "vm.network_detached";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["NetworkEventData"];
        };
        LowBalanceEventData: {
            transaction: null;
            wallet: {
                /** @description Decimal with two places, for example "12.00"; debits are negative */
                balance: string;
                /** @description ISO 4217, for example USD */
                currency: string;
            };
            /** @description What renewals will charge within 7 days: decimal with two places */
            dueNext7Days: string;
        };
        LowBalanceEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "billing.low_balance";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["LowBalanceEventData"];
        };
        Transaction: {
            id: string;
            /** @enum {string} */
            type: "DEPOSIT" | "CREDIT" | "VM_CHARGE" | "VM_RENEWAL" | "VM_UPGRADE" | "VM_REFUND" | "BANDWIDTH_PACK" | "ADDON_CHARGE" | "ADJUSTMENT" | "ADDRESS_CHARGE" | "ADDRESS_RENEWAL" | "ADDRESS_REFUND" | "IMAGE_CHARGE" | "IMAGE_RENEWAL" | "IMAGE_REFUND" | "VOLUME_CHARGE" | "VOLUME_UPGRADE" | "VOLUME_RENEWAL" | "VOLUME_REFUND" | "VM_UNSHELVE";
            description: string;
            /** @enum {string} */
            referenceType: "VM" | "PAYMENT" | "ADMIN" | "ADDRESS" | "IMAGE" | "VOLUME";
            /** @description The id of what the money was for or came from */
            referenceId: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            amount: string;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceAfter: string | null;
            project: {
                id: string;
                /** @description As it was called then */
                name: string;
            } | null;
        };
        PaymentEventData: {
            /**
             * @description Who paid: a deposit, or a credit of the operator. Absent before 0.2.0
             * @enum {string}
             */
            source?: ("payment" | "operator") | undefined;
            transaction: components["schemas"]["Transaction"];
            wallet: {
                /** @description Decimal with two places, for example "12.00"; debits are negative */
                balance: string;
                /** @description ISO 4217, for example USD */
                currency: string;
            };
        };
        PaymentEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "billing.payment_received";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["PaymentEventData"];
        };
        Ticket: {
            id: string;
            subject: string;
            /**
             * @description OPEN waits for support, ANSWERED for you
             * @enum {string}
             */
            status: "OPEN" | "ANSWERED" | "CLOSED";
            replyCount: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            closedAt: string | null;
        };
        TicketReply: {
            id: string;
            /** @enum {string} */
            author: "customer" | "staff";
            body: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        TicketReplyEventData: {
            ticket: components["schemas"]["Ticket"];
            reply: components["schemas"]["TicketReply"];
        };
        TicketReplyEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ticket.reply";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["TicketReplyEventData"];
        };
        TicketClosedEventData: {
            ticket: components["schemas"]["Ticket"];
        };
        TicketClosedEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ticket.closed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["TicketClosedEventData"];
        };
        Snapshot: {
            id: string;
            vmId: string;
            name: string;
            description: string;
            labels: {
                [key: string]: string;
            };
            /** @enum {unknown} */
            status: "CREATING" | "AVAILABLE" | "RESTORING" | "DELETING" | "FAILED";
            /** @description Bytes as a decimal string */
            size: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            sizeRefreshedAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        SnapshotEventData: {
            snapshot: components["schemas"]["Snapshot"];
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        SnapshotEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "snapshot.created" | "snapshot.deleted" | "snapshot.restored";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["SnapshotEventData"];
        };
        Backup: {
            id: string;
            vmId: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            /** @enum {unknown} */
            type: "DAILY" | "MANUAL";
            /** @enum {unknown} */
            status: "PENDING" | "RUNNING" | "AVAILABLE" | "RESTORING" | "DELETING" | "FAILED";
            /** @description Bytes as a decimal string */
            size: string;
            /** @description GiB; a VM that is made from it needs a disk as large. Null once its VM is deleted */
            disk: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            startedAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completedAt: string | null;
            /**
             * Format: date-time
             * @description Of daily backups: until when backupPolicy of the VM keeps it. Without a newer one it is kept, unless daily backups are switched off
             */
            expiresAt: string | null;
            /** @description Why it failed */
            error: string | null;
            consistency: ("FILESYSTEM" | "CRASH") | null;
            /** @description What it does not protect from, where there is only one host to keep it on */
            warning: string | null;
            verification: ("BOOTED" | "RUNNING" | "FAILED") | null;
            /**
             * Format: date-time
             * @description When it was last proved. Null if never, or if the last trial failed
             */
            verifiedAt: string | null;
            /** @description Why the trial restore failed */
            verificationError: string | null;
            /** @description How long the trial took until the disk was restored */
            restoreSeconds: number | null;
            /** @description How long its guest then took until the guest agent answered */
            bootSeconds: number | null;
            /** @description Whether there is a picture of the screen of that guest */
            hasScreenshot: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        BackupEventData: {
            backup: components["schemas"]["Backup"];
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        BackupEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "backup.created" | "backup.failed" | "backup.deleted" | "backup.restored" | "backup.verified" | "backup.verification_failed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["BackupEventData"];
        };
        RestoreFailedEventData: {
            snapshot?: components["schemas"]["Snapshot"] | undefined;
            backup?: components["schemas"]["Backup"] | undefined;
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        RestoreFailedEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "vm.restore_failed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["RestoreFailedEventData"];
        };
        Image: {
            /** @description Given as osTemplateId where a VM is made or rebuilt */
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            /**
             * @description DISK: VMs are made from it. ISO: it is put into the CD drives of VMs, which start from it
             * @enum {unknown}
             */
            kind: "DISK" | "ISO";
            /** @enum {unknown} */
            status: "CREATING" | "AVAILABLE" | "FAILED" | "DELETING";
            /** @description Why it failed */
            error: string | null;
            /**
             * Format: date-time
             * @description Of a deleted one: object lock keeps it in a backup target until then at the latest, and it counts in imageStorage meanwhile
             */
            lockedUntil: string | null;
            /** @description Whether it is protected against deletion */
            isProtected: boolean;
            source: {
                /** @enum {unknown} */
                type: "VM" | "SNAPSHOT" | "BACKUP" | "URL";
                /** @description Of the VM, snapshot or backup, which may be deleted by now */
                id: string | null;
                url: string | null;
                /** @description The VM that it shows, also where it was made from a snapshot or backup */
                vmId: string | null;
            };
            /** @description Bytes as a decimal string */
            size: string;
            /** @description GiB that the disk of a VM needs at least */
            disk: number | null;
            arch: string | null;
            /** @description Who gets the SSH keys and the password in a VM from it */
            defaultUser: string | null;
            /** @description sha256 of the image as it is kept */
            checksum: string | null;
            consistency: ("FILESYSTEM" | "CRASH") | null;
            billing: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                nextRenewalAt: string;
                /** @enum {unknown} */
                status: "ACTIVE" | "PAST_DUE" | "SUSPENDED";
                /** @description What the next renewal will charge */
                priceMonthly: string;
            } | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        ImageEventData: {
            image: components["schemas"]["Image"];
            actionId: string | null;
            /** @description Why it happened, where that is not clear */
            reason: string | null;
        };
        ImageEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image.creating" | "image.created" | "image.failed" | "image.updated" | "image.renewed" | "image.past_due" | "image.deleted";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["ImageEventData"];
        };
        ConsoleEventData: {
            console: {
                /** @enum {unknown} */
                type: "serial" | "vnc";
                sessionId: string;
            };
            vm: components["schemas"]["VmListItem"];
            /** @description The action that caused it; null where none did */
            actionId: string | null;
            /** @description Why, where its owner did not ask for it */
            reason: string | null;
            /** @description Rises with every event of the VM: of two events, the one with the larger sequence is later */
            sequence: number;
        };
        ConsoleEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "vm.console_opened";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["ConsoleEventData"];
        };
        Address: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            /** @description IPv4 */
            address: string;
            region: {
                slug: string;
                name: string;
            };
            /** @description The VM that has it; null while it is unassigned */
            vmId: string | null;
            guestState: ("PENDING" | "CONFIGURED" | "MANUAL") | null;
            /** @description Why it is not configured in the guest yet, and what to do */
            guestReason: string | null;
            currentAction: {
                id: string;
                action: string;
                status: string;
                progress: number;
            } | null;
            /** @description What reverse DNS (PTR) says of the address, or is about to */
            reverseName: string | null;
            reverseNameState: ("PENDING" | "SET" | "FAILED") | null;
            /** @description Why the name server does not have it yet */
            reverseNameReason: string | null;
            billing: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                nextRenewalAt: string;
                /** @enum {unknown} */
                status: "ACTIVE" | "PAST_DUE" | "SUSPENDED";
                /** @description What the next renewal will charge */
                priceMonthly: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        AddressEventData: {
            address: components["schemas"]["Address"];
            actionId: string | null;
            /** @description Why it happened, where that is not clear */
            reason: string | null;
        };
        AddressEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "address.reserved" | "address.assigned" | "address.unassigned" | "address.assignment_failed" | "address.renewed" | "address.past_due" | "address.released";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["AddressEventData"];
        };
        Volume: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            sizeGiB: number;
            /**
             * @description Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it
             * @enum {unknown}
             */
            storage: "LOCAL" | "REPLICATED";
            region: {
                slug: string;
                name: string;
            };
            /** @enum {string} */
            status: "AVAILABLE" | "ATTACHING" | "ATTACHED" | "DETACHING";
            /** @description The VM that has it; null while it is detached */
            vmId: string | null;
            /** @description Where a Linux guest finds it, whichever other disks the VM has */
            devicePath: string;
            isProtected: boolean;
            currentAction: {
                id: string;
                action: string;
                status: string;
                progress: number;
            } | null;
            billing: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                nextRenewalAt: string;
                /** @enum {unknown} */
                status: "ACTIVE" | "PAST_DUE" | "SUSPENDED";
                /** @description What the next renewal will charge */
                priceMonthly: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        VolumeEventData: {
            volume: components["schemas"]["Volume"];
            actionId: string | null;
            /** @description Why it happened, where that is not clear */
            reason: string | null;
        };
        VolumeEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "volume.created" | "volume.attached" | "volume.attach_failed" | "volume.detached" | "volume.detach_failed" | "volume.grown" | "volume.grow_failed" | "volume.renewed" | "volume.past_due" | "volume.deleted";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["VolumeEventData"];
        };
        VolumeSnapshot: {
            id: string;
            volumeId: string;
            name: string;
            description: string;
            labels: {
                [key: string]: string;
            };
            /** @enum {unknown} */
            status: "CREATING" | "AVAILABLE" | "RESTORING" | "DELETING" | "FAILED";
            /** @description Bytes as a decimal string */
            size: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            sizeRefreshedAt: string | null;
            /** @description Of the volume when the snapshot was taken: one made from it is at least so large */
            volumeSizeGiB: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        VolumeSnapshotEventData: {
            volume: components["schemas"]["Volume"];
            snapshot: components["schemas"]["VolumeSnapshot"];
            actionId: string | null;
            /** @description Why it happened, where that is not clear */
            reason: string | null;
        };
        VolumeSnapshotEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "volume.snapshot_created" | "volume.snapshot_failed" | "volume.snapshot_deleted" | "volume.restored" | "volume.restore_failed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["VolumeSnapshotEventData"];
        };
        Maintenance: {
            id: string;
            /** @enum {unknown} */
            state: "SCHEDULED" | "IN_PROGRESS" | "COMPLETED" | "CANCELLED";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            startsAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            endsAt: string;
            /** @description Your VMs that are on the host concerned now: one that is moved away before is not affected */
            vmIds: string[];
            /** @description What the operator says about it: plain text */
            text: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        MaintenanceEventData: {
            maintenance: components["schemas"]["Maintenance"];
            /** @description Those of `vmIds`, by name. Absent in events of versions that did not tell it */
            vms?: {
                id: string;
                name: string;
            }[] | undefined;
        };
        MaintenanceEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "maintenance.announced" | "maintenance.cancelled";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["MaintenanceEventData"];
        };
        EventMember: {
            /** @description Of the person; the same in the audit log */
            id: string;
            email: string;
            name: string;
            /** @enum {unknown} */
            role: "owner" | "admin" | "operator" | "billing" | "read-only" | "custom";
            /** @description What the role allows */
            scopes: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            budget: components["schemas"]["BudgetLimits"] | null;
        };
        MemberEventData: {
            member: components["schemas"]["EventMember"];
        };
        MemberEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "member.updated";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["MemberEventData"];
        };
        EventToken: {
            id: string;
            name: string;
            /** @description The first characters of the secret, to recognise it by */
            prefix: string;
            scopes: string[];
            /** @description Neither revoked nor expired */
            isActive: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            revokedAt: string | null;
            /** @description Empty = from everywhere */
            allowedIps: string[];
            /** @description Its rate limit */
            requestsPerMinute: number;
            /** @description The token that it was made with, within which it stays and with which it is revoked; null where none was */
            parentId: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            budget: components["schemas"]["BudgetLimits"] | null;
        };
        TokenEventData: {
            token: components["schemas"]["EventToken"];
        };
        TokenEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "token.created" | "token.updated" | "token.revoked";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["TokenEventData"];
        };
        AlertEventData: {
            alert: {
                id: string;
                name: string;
                /** @enum {unknown} */
                metric: "cpuPercent" | "ramPercent" | "diskReadBytesPerSecond" | "diskWriteBytesPerSecond" | "networkInBytesPerSecond" | "networkOutBytesPerSecond" | "trafficPercent" | "balanceDays";
                /** @enum {unknown} */
                comparison: "ABOVE" | "BELOW";
                threshold: number;
                forMinutes: number | null;
            };
            vm: {
                id: string;
                name: string;
                labels: {
                    [key: string]: string;
                };
            } | null;
            /** @description On average over those minutes; null where there is none */
            value: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            firedAt: string;
            /** @description Why it ended, where not by the measured value */
            reason: string | null;
        };
        AlertEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "alert.fired" | "alert.resolved";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["AlertEventData"];
        };
        EventProject: {
            /** @description Of an account: to name it where one of several is meant */
            id: string;
            name: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            budget: components["schemas"]["BudgetLimits"] | null;
        };
        ProjectEventData: {
            project: components["schemas"]["EventProject"];
        };
        ProjectEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "project.created" | "project.updated" | "project.deleted";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["ProjectEventData"];
        };
        EventFirewall: {
            id: string;
            name: string;
        };
        FirewallRulesChangedEventData: {
            firewall: components["schemas"]["EventFirewall"];
            ruleCount: number;
            rulesVersion: string;
            /**
             * Format: date-time
             * @description The rules are undone by themselves then, unless they are confirmed
             */
            confirmBy: string | null;
        };
        FirewallRulesChangedEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "firewall.rules_changed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["FirewallRulesChangedEventData"];
        };
        FirewallRulesUndoneEventData: {
            firewall: components["schemas"]["EventFirewall"];
            ruleCount: number;
            rulesVersion: string;
            /**
             * @description Somebody undid them, or nobody confirmed them in time
             * @enum {unknown}
             */
            reason: "REQUESTED" | "UNCONFIRMED";
        };
        FirewallRulesUndoneEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "firewall.rules_undone";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["FirewallRulesUndoneEventData"];
        };
        FirewallUndoFailedEventData: {
            firewall: components["schemas"]["EventFirewall"];
            /** @description Of the rules that are still in force */
            rulesVersion: string;
            /** @description The code of the error, as in errors of the API */
            reason: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            nextTryAt: string;
        };
        FirewallUndoFailedEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "firewall.undo_failed";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["FirewallUndoFailedEventData"];
        };
        Webhook: {
            id: string;
            url: string;
            events: string[];
            /** @description False after a 410, after 10 failures in a row with no success for 5 days, or when switched off */
            isActive: boolean;
            description: string;
            labels: {
                [key: string]: string;
            };
            /** @description Only events of resources with such labels are sent; null: all */
            labelSelector: string | null;
            /** @description Attempts that have failed in a row */
            failCount: number;
            /** @description Why isActive became false by itself */
            disabledReason: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            lastSuccessAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        WebhookDisabledEventData: {
            webhook: components["schemas"]["Webhook"];
            reason: string | null;
        };
        WebhookDisabledEvent: {
            id: string;
            /** @description The event's number in the account, from 1 without a gap; old events are removed: pass the last one as `after` */
            cursor: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "webhook.disabled";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            data: components["schemas"]["WebhookDisabledEventData"];
        };
        /** @description Its data is typed by its type */
        Event: components["schemas"]["VmEvent"] | components["schemas"]["IsoEvent"] | components["schemas"]["InitializationEvent"] | components["schemas"]["NetworkEvent"] | components["schemas"]["LowBalanceEvent"] | components["schemas"]["PaymentEvent"] | components["schemas"]["TicketReplyEvent"] | components["schemas"]["TicketClosedEvent"] | components["schemas"]["SnapshotEvent"] | components["schemas"]["BackupEvent"] | components["schemas"]["RestoreFailedEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["ConsoleEvent"] | components["schemas"]["AddressEvent"] | components["schemas"]["VolumeEvent"] | components["schemas"]["VolumeSnapshotEvent"] | components["schemas"]["MaintenanceEvent"] | components["schemas"]["MemberEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["AlertEvent"] | components["schemas"]["ProjectEvent"] | components["schemas"]["FirewallRulesChangedEvent"] | components["schemas"]["FirewallRulesUndoneEvent"] | components["schemas"]["FirewallUndoFailedEvent"] | components["schemas"]["WebhookDisabledEvent"];
        Wallet: {
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            balance: string;
            /** @description ISO 4217, for example USD */
            currency: string;
            /** @description What renewals will charge within 7 days: decimal with two places */
            dueNext7Days: string;
            /** @description Whole days the balance lasts at the present monthly cost; null when nothing renews */
            daysLeft: number | null;
        };
        TransactionDetail: {
            id: string;
            /** @enum {string} */
            type: "DEPOSIT" | "CREDIT" | "VM_CHARGE" | "VM_RENEWAL" | "VM_UPGRADE" | "VM_REFUND" | "BANDWIDTH_PACK" | "ADDON_CHARGE" | "ADJUSTMENT" | "ADDRESS_CHARGE" | "ADDRESS_RENEWAL" | "ADDRESS_REFUND" | "IMAGE_CHARGE" | "IMAGE_RENEWAL" | "IMAGE_REFUND" | "VOLUME_CHARGE" | "VOLUME_UPGRADE" | "VOLUME_RENEWAL" | "VOLUME_REFUND" | "VM_UNSHELVE";
            description: string;
            /** @enum {string} */
            referenceType: "VM" | "PAYMENT" | "ADMIN" | "ADDRESS" | "IMAGE" | "VOLUME";
            /** @description The id of what the money was for or came from */
            referenceId: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            amount: string;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceAfter: string | null;
            project: {
                id: string;
                /** @description As it was called then */
                name: string;
            } | null;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceBefore: string | null;
            resource: {
                id: string;
                /** @description Its present name, or its last */
                name: string;
                labels: {
                    [key: string]: string;
                };
                deleted: boolean;
            } | null;
            action: {
                id: string;
                action: string;
                status: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                createdAt: string;
            } | null;
            /** @description What the price of a month of a VM was made of, together the amount; empty where that is not known */
            priceParts: {
                /** @enum {unknown} */
                part: "PLAN" | "WITHOUT_IPV4" | "DAILY_BACKUP" | "NETWORK_10G" | "COPIES";
                /** @description Decimal with two places, for example "12.00"; debits are negative */
                amount: string;
            }[];
        };
        /** @description Of the ledger: the amounts of all groups together are the amount, to the cent */
        Costs: {
            month: string;
            currency: string;
            /** @description What was charged: decimal with two places */
            charged: string;
            /** @description What was given back of it: decimal with two places */
            refunded: string;
            /** @description The difference: decimal with two places */
            amount: string;
            /** @description How many transactions */
            entries: number;
            /** @description The largest amount first; at most 1,000 */
            groups: {
                /** @description The id, type or value; null: without the label, or, of projects, the account itself */
                key: string | null;
                /** @description Of a resource or project */
                name: string | null;
                /** @description VM, VOLUME, IMAGE or ADDRESS */
                resourceType: string | null;
                /** @description Of a resource: it is no longer there */
                deleted: boolean | null;
                /** @description What was charged: decimal with two places */
                charged: string;
                /** @description What was given back of it: decimal with two places */
                refunded: string;
                /** @description The difference: decimal with two places */
                amount: string;
                /** @description How many transactions */
                entries: number;
            }[];
            furtherGroups: {
                count: number;
                /** @description What was charged: decimal with two places */
                charged: string;
                /** @description What was given back of it: decimal with two places */
                refunded: string;
                /** @description The difference: decimal with two places */
                amount: string;
                /** @description How many transactions */
                entries: number;
            } | null;
        };
        /** @description The upcoming days are what they are if nothing is bought, deleted or deposited */
        WalletTimeline: {
            currency: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            balance: string;
            /** @description What all that renews costs a month: decimal with two places */
            monthly: string;
            /** @description Each day, the oldest first */
            past: {
                /** @description Such as 2027-01-31, of UTC */
                date: string;
                /** @description At the end of the day; of the last one, today, as it is now */
                balance: string;
            }[];
            /** @description Each day from today on */
            upcoming: {
                /** @description Such as 2027-01-31, of UTC */
                date: string;
                /** @description What renews on this day */
                charge: string;
                /** @description What would be left after it, below zero where it is not covered */
                balance: string;
            }[];
        };
        Deposit: {
            id: string;
            /**
             * @description PROCESSING: paid by a method that takes days. SUCCEEDED: in the wallet. EXPIRED: not paid for 14 days; credited if it is paid later
             * @enum {string}
             */
            status: "PENDING" | "PROCESSING" | "SUCCEEDED" | "FAILED" | "EXPIRED";
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            amount: string;
            currency: string;
            /** @enum {string} */
            provider: "manual" | "stripe";
            /** @description The page to pay at, while it is PENDING */
            checkoutUrl: string | null;
            /** @description How to pay where there is no page */
            instructions: string | null;
            /** @description What was refunded or charged back since: decimal with two places */
            refunded: string;
            /** @description The entry of the ledger, once it is in the wallet */
            transactionId: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        CreateDeposit: {
            /** @description From 1.00 to 50000.00, as a decimal string */
            amount: string;
        };
        InvoiceSummary: {
            id: string;
            /** @description Without gaps over all invoices, for example INV-000042 */
            number: string;
            /** @description For example 2027-01 */
            month: string;
            currency: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            openingBalance: string;
            /** @description What was bought, less what was given back for it: decimal with two places */
            charged: string;
            /** @description What came into the wallet, less what was taken back: decimal with two places */
            paid: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            closingBalance: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            issuedAt: string;
        };
        Invoice: {
            id: string;
            /** @description Without gaps over all invoices, for example INV-000042 */
            number: string;
            /** @description For example 2027-01 */
            month: string;
            currency: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            openingBalance: string;
            /** @description What was bought, less what was given back for it: decimal with two places */
            charged: string;
            /** @description What came into the wallet, less what was taken back: decimal with two places */
            paid: string;
            /** @description Decimal with two places, for example "12.00"; debits are negative */
            closingBalance: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            issuedAt: string;
            seller: {
                name: string;
                address: string[];
                tax: string;
            };
            customer: {
                name: string;
                email: string;
            };
            /** @description The entries of the ledger, oldest first; at most 1,000 */
            lines: components["schemas"]["Transaction"][];
            furtherLines: {
                count: number;
                /** @description Decimal with two places, for example "12.00"; debits are negative */
                amount: string;
            } | null;
            /** @description A page to print, for whoever has this link, for an hour */
            pageUrl: string;
        };
        FieldChange: {
            /** @description As in the request */
            field: string;
            /** @description What it was, in at most 400 characters; of lists and maps, the entries that are gone */
            from: string | null;
            /** @description What it is since; of lists and maps, the entries that are new */
            to: string | null;
        };
        AuditEntry: {
            id: string;
            /** @description The operationId of the call, followed by the name of an identity provider where one was asked, the words of an operator's command, or "refusals" for those that were only counted */
            action: string;
            actor: {
                /** @enum {unknown} */
                type: "token" | "person" | "operator" | "system";
                /** @description Of the token or the person; null for others */
                id: string | null;
                /** @description Of the token, at that time, or the e-mail address of the person */
                name: string;
                via: ("session" | "token") | null;
                person: {
                    /** @description As in `GET /members` */
                    id: string;
                    /** @description The e-mail address at that time */
                    name: string;
                } | null;
            };
            /** @description Where the call came from */
            ip: string | null;
            method: string | null;
            /** @description For example /vms/{id}/restart */
            route: string | null;
            /** @description What it was done to, or what was made */
            resourceId: string | null;
            /** @description All ids of the path in its order, and then of what was made */
            resourceIds: string[];
            /** @description What it was called then. Only for what the caller may read; null where the call did not tell */
            resourceName: string | null;
            changes: components["schemas"]["FieldChange"][] | null;
            /** @enum {unknown} */
            result: "succeeded" | "refused";
            /** @description The HTTP status; null where there was no call of the API */
            status: number | null;
            /** @description As in the header X-Error-Code */
            errorCode: string | null;
            /** @description As in the header X-Request-Id */
            requestId: string | null;
            /** @description More than 1 where changes or refusals came so often that they were only counted */
            count: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        Token: {
            id: string;
            name: string;
            /** @description The first characters of the secret, to recognise it by */
            prefix: string;
            scopes: string[];
            /** @description Neither revoked nor expired */
            isActive: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            revokedAt: string | null;
            /** @description Empty = from everywhere */
            allowedIps: string[];
            /** @description Its rate limit */
            requestsPerMinute: number;
            /** @description The token that it was made with, within which it stays and with which it is revoked; null where none was */
            parentId: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            lastUsedAt: string | null;
            lastUsedIp: string | null;
            budget: components["schemas"]["Budget"] | null;
        };
        NewToken: {
            id: string;
            name: string;
            /** @description The first characters of the secret, to recognise it by */
            prefix: string;
            scopes: string[];
            /** @description Neither revoked nor expired */
            isActive: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            revokedAt: string | null;
            /** @description Empty = from everywhere */
            allowedIps: string[];
            /** @description Its rate limit */
            requestsPerMinute: number;
            /** @description The token that it was made with, within which it stays and with which it is revoked; null where none was */
            parentId: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            lastUsedAt: string | null;
            lastUsedIp: string | null;
            budget: components["schemas"]["Budget"] | null;
            /** @description The token itself: shown this once */
            secret: string;
        };
        RevokedToken: {
            id: string;
            /** @description The ids of what was made with it, and is gone with it */
            alsoRevoked: string[];
        };
        Node: {
            id: string;
            name: string;
            available: boolean;
        };
        SshKey: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            /** @description As in the key, for example ssh-ed25519 */
            type: string;
            /** @description SHA256:… as ssh-keygen -l shows it */
            fingerprint: string;
            /** @description The type and the key, without a comment */
            publicKey: string;
            /** @description How many VMs the key was installed on */
            vmCount: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        PlacementGroup: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            /** @enum {unknown} */
            policy: "SPREAD" | "STRICT_SPREAD" | "TOGETHER";
            vms: {
                id: string;
                name: string;
            }[];
            /** @description On how many hosts its VMs are */
            hostCount: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        CreatePlacementGroup: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /**
             * @description SPREAD: on different hosts as far as there is room. STRICT_SPREAD: never two on one host. TOGETHER: on the same host as far as there is room
             * @enum {unknown}
             */
            policy: "SPREAD" | "STRICT_SPREAD" | "TOGETHER";
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        Network: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            cidr: string;
            /** @description Null only with SNAT and DHCP both off */
            gateway: string | null;
            enableSnat: boolean;
            enableDhcp: boolean;
            region: {
                name: string;
                country: string;
                flag: string;
            };
            /** @description How many VMs are attached */
            attachmentCount: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        CreateNetwork: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /** @description A region's id, or the id of one of its hosts: the network spans all hosts of the region */
            nodeId: string;
            /** @description A private range from /8 to /30; host bits are masked away */
            cidr: string;
            /** @description must be an IPv4 address such as 10.0.0.1, or null */
            gateway?: (string | null) | undefined;
            /**
             * @description VMs reach the internet through the gateway
             * @default true
             */
            enableSnat?: boolean | undefined;
            /**
             * @description VMs are told their addresses by DHCP
             * @default true
             */
            enableDhcp?: boolean | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        /** @description At least one of them */
        RenameNetwork: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        DeletedNetwork: {
            id: string;
        };
        NetworkAttachment: {
            vmId: string;
            /** @description The VM's own address in the network */
            ipAddress: string;
        };
        NetworkRoute: {
            id: string;
            destination: string;
            nextHop: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        CreateNetworkRoute: {
            /** @description A range outside of the network; host bits are masked away */
            destination: string;
            /** @description An address in the network: of the VM that takes on what is sent to the range */
            nextHop: string;
        };
        NetworkPeering: {
            /** @description The same for both networks */
            id: string;
            /** @description Of the other network */
            networkId: string;
            /** @description Of the other network */
            name: string;
            /** @description Of the other network */
            cidr: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
        };
        CreateNetworkPeering: {
            /** @description Another network of the account in the same region */
            networkId: string;
        };
        Firewall: {
            id: string;
            name: string;
            labels: {
                [key: string]: string;
            };
            description: string;
            /** @description What happens to packets to a VM that no rule matches */
            defaultInbound: string;
            /** @description What happens to packets from a VM that no rule matches */
            defaultOutbound: string;
            /** @description Whether its rules also filter the private interfaces of the VMs that it is bound to */
            coversPrivate: boolean;
            ruleCount: number;
            /** @description How many VMs it is bound to */
            bindingCount: number;
            /** @description Whether the hosts of all these VMs have its latest rules */
            applied: boolean;
            /** @description For how many of these VMs older rules are in force until their hosts have the latest: a confirmation before says nothing about them */
            pendingCount: number;
            /** @description Of its rules in their order: another one when any of them was changed, added, moved or deleted */
            rulesVersion: string;
            /**
             * Format: date-time
             * @description Until then the latest change of its rules can be undone; null when there is none
             */
            undoUntil: string | null;
            /**
             * Format: date-time
             * @description Its rules are undone by themselves then, unless they are confirmed
             */
            confirmBy: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        CreateFirewall: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /** @description must be 0-500 characters, without control characters */
            description?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /**
             * @description Whether its rules also filter the private interfaces of the VMs that it is bound to
             * @default false
             */
            coversPrivate?: boolean | undefined;
        };
        ChangeFirewall: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description must be 0-500 characters, without control characters */
            description?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /** @description Whether its rules also filter the private interfaces of the VMs that it is bound to */
            coversPrivate?: boolean | undefined;
        };
        FirewallRule: {
            id: string;
            firewallId: string;
            /** @description From 1; the first rule that matches decides */
            position: number;
            /** @description IN or OUT */
            direction: string;
            /** @description ACCEPT, DROP or REJECT */
            action: string;
            /** @description TCP, UDP, ICMP, ICMPV6 or ANY */
            protocol: string;
            /** @description "any", or destination ports such as "22", "80,443" or "8000-9000" */
            port: string;
            /** @description Empty = any */
            sourceIps: string[];
            /** @description Empty = any */
            destIps: string[];
            description: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        AddRule: {
            /** @enum {unknown} */
            direction: "IN" | "OUT";
            /** @enum {unknown} */
            action: "ACCEPT" | "DROP" | "REJECT";
            /** @enum {unknown} */
            protocol: "TCP" | "UDP" | "ICMP" | "ICMPV6" | "ANY";
            /** @description Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all */
            port?: (string | null) | undefined;
            /** @description Addresses and ranges of IPv4 and IPv6; empty = any */
            sourceIps?: string[] | undefined;
            /** @description Addresses and ranges of IPv4 and IPv6; empty = any */
            destIps?: string[] | undefined;
            /** @description must be 0-200 characters, without control characters */
            description?: string | undefined;
            /** @description Where to insert it; at the end when absent */
            position?: number | undefined;
        };
        RuleInput: {
            /** @enum {unknown} */
            direction: "IN" | "OUT";
            /** @enum {unknown} */
            action: "ACCEPT" | "DROP" | "REJECT";
            /** @enum {unknown} */
            protocol: "TCP" | "UDP" | "ICMP" | "ICMPV6" | "ANY";
            /** @description Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all */
            port?: (string | null) | undefined;
            /** @description Addresses and ranges of IPv4 and IPv6; empty = any */
            sourceIps?: string[] | undefined;
            /** @description Addresses and ranges of IPv4 and IPv6; empty = any */
            destIps?: string[] | undefined;
            /** @description must be 0-200 characters, without control characters */
            description?: string | undefined;
        };
        ReplaceRules: {
            /** @description In the order they are to be asked */
            rules: components["schemas"]["RuleInput"][];
            /** @description The `rulesVersion` that these replace: refused with `version_conflict` when it is another */
            basedOn?: string | undefined;
            /** @description Undo them by themselves unless they are confirmed by then: for changes that may lock their author out */
            confirmWithinSeconds?: number | undefined;
        };
        FirewallUndo: {
            /** @description As they would be, in their order */
            rules: components["schemas"]["FirewallRule"][];
            /** @description Of the rules that it undoes, for `basedOn` */
            rulesVersion: string;
            /** @description Of the rules that return */
            restoresVersion: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            undoUntil: string;
            /**
             * Format: date-time
             * @description It happens by itself then, unless the rules are confirmed
             */
            confirmBy: string | null;
        };
        UndoRules: {
            /** @description The `rulesVersion` that is to be undone: refused with `version_conflict` when it is another */
            basedOn?: string | undefined;
            /** @description Of the rules that are to return, from `GET /firewalls/{id}/undo`: refused with `version_conflict` when others would */
            restoresVersion?: string | undefined;
        };
        ConfirmRules: {
            /** @description The `rulesVersion` that is to be kept: refused with `version_conflict` when it is another */
            basedOn?: string | undefined;
        };
        ChangeRule: {
            /** @enum {unknown} */
            direction?: ("IN" | "OUT") | undefined;
            /** @enum {unknown} */
            action?: ("ACCEPT" | "DROP" | "REJECT") | undefined;
            /** @enum {unknown} */
            protocol?: ("TCP" | "UDP" | "ICMP" | "ICMPV6" | "ANY") | undefined;
            /** @description Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all */
            port?: (string | null) | undefined;
            /** @description Addresses and ranges of IPv4 and IPv6; empty = any */
            sourceIps?: string[] | undefined;
            /** @description Addresses and ranges of IPv4 and IPv6; empty = any */
            destIps?: string[] | undefined;
            /** @description must be 0-200 characters, without control characters */
            description?: string | undefined;
            /** @description Moves it there; the others keep their order */
            position?: number | undefined;
        };
        FirewallBindingState: {
            firewallId: string;
            vmId: string;
            /** @description Whether the VM's host has the latest rules */
            applied: boolean;
            /** @enum {unknown} */
            state: "APPLIED" | "PENDING" | "FAILED";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            appliedAt: string | null;
            /** @description Why the host does not have them yet; it is tried again */
            error: string | null;
            /**
             * Format: date-time
             * @description When it is tried again after a failure
             */
            nextTryAt: string | null;
        };
        /** @description Whether a VM of this plan would be placed in this region now, with a public IPv4 address and without add-ons. A few seconds old. Quotas and money are not looked at */
        Availability: {
            region: {
                id: string;
                slug: string;
            };
            plan: {
                id: string;
                slug: string;
            };
            /** @description Of the OS template: x86_64 or aarch64 */
            architecture: string;
            available: boolean;
            code: ("region_closed" | "plan_not_offered" | "architecture_not_offered" | "never" | "full" | "no_address") | null;
            /** @description The same as a sentence */
            reason: string | null;
        };
        /** @description Of daily backups, where they are switched on */
        BackupPolicy: {
            /** @description UTC, in which daily backups begin; null: a time of its own between 22:00 and 06:00 */
            hour: number | null;
            /** @description The newest daily backups */
            keepDaily: number;
            /** @description The newest of each of so many weeks, from Monday to Sunday */
            keepWeekly: number;
            /** @description The newest of each of so many months */
            keepMonthly: number;
        };
        /** @description Of a VM that runs a rescue system; its own disk is attached beside that */
        Rescue: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            /**
             * Format: date-time
             * @description When it ends by itself
             */
            endsAt: string;
            /** @description Whom to log in as */
            user: string;
        };
        /** @description In the CD drive of a VM, which starts from it first */
        AttachedIso: {
            imageId: string;
            /** @description Of the image */
            name: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
            /** @description Whether its machine has it in the drive: false until it is started, or restarted, for the first time since, and in rescue */
            active: boolean;
        };
        Vm: {
            id: string;
            name: string;
            hostname: string;
            /** @enum {unknown} */
            status: "PROVISIONING" | "RUNNING" | "STOPPED" | "SUSPENDED" | "REBUILDING" | "UPGRADING" | "UNMANAGED" | "ERROR";
            vcpu: number;
            /** @description MiB */
            ram: number;
            /** @description GiB */
            disk: number;
            /**
             * @description Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it
             * @enum {unknown}
             */
            storage: "LOCAL" | "REPLICATED";
            /** @description Each vCPU is a CPU of the host that no other VM has */
            dedicatedCpu: boolean;
            /** @description GB (10^9 bytes) per billing month; 0 = unmetered */
            bandwidth: number;
            /** @description Mbit/s */
            networkSpeed: number;
            network10gEnabled: boolean;
            dailyBackupEnabled: boolean;
            isProtected: boolean;
            /** @description Whether it has, or is to have, a public IPv4 address */
            publicIpv4: boolean;
            /** @description The public IPv4 address; null while none is assigned, and without publicIpv4 */
            ipAddress: string | null;
            /** @description Null where the region has no IPv6, and until the next rebuild of a VM from before */
            ipv6Address: string | null;
            /** @description The /64 of its own, with ipv6Address in it; null where it has that address alone */
            ipv6Prefix: string | null;
            region: {
                slug: string;
                name: string;
            };
            plan: {
                slug: string;
                name: string;
                /** @description Decimal with two places, for example "12.00"; debits are negative */
                priceMonthly: string;
            };
            osTemplate: {
                slug: string;
                name: string;
                version: string;
                arch: string;
            };
            billing: {
                /**
                 * Format: date-time
                 * @description Nothing is charged then while status is CANCELLED (it failed to provision), and of an UNMANAGED VM
                 */
                nextRenewalAt: string;
                /** @enum {unknown} */
                status: "ACTIVE" | "PAST_DUE" | "SUSPENDED" | "CANCELLED";
                /** @description What the next renewal will charge, add-ons included */
                priceMonthly: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Since when it is shelved: on no host, STOPPED, and paid for its disk and addresses only
             */
            shelvedAt: string | null;
            /**
             * Format: date-time
             * @description Since when its host does not answer: `status` is what was known then. Null: it answers
             */
            hostUnreachableSince: string | null;
            /** @description Whether it is held to networkSpeed, and to the throttle at its traffic cap: always true */
            networkLimited: boolean;
            /** @description What reverse DNS (PTR) says of the address, or is about to */
            reverseName: string | null;
            reverseNameState: ("PENDING" | "SET" | "FAILED") | null;
            /** @description Why the name server does not have it yet */
            reverseNameReason: string | null;
            /** @description What reverse DNS (PTR) says of ipv6Address, or is about to */
            ipv6ReverseName: string | null;
            ipv6ReverseNameState: ("PENDING" | "SET" | "FAILED") | null;
            /** @description Why the name server does not have it yet */
            ipv6ReverseNameReason: string | null;
            backupPolicy: components["schemas"]["BackupPolicy"];
            /**
             * Format: date-time
             * @description When its next daily backup is due; null without daily backups, and until one is scheduled
             */
            nextBackupAt: string | null;
            /** @description The part of billing.priceMonthly that its snapshots, on-demand backups and daily backups beyond seven cost */
            copiesPriceMonthly: string;
            bandwidthUsedBytes: number;
            /** @description Bytes as a decimal string */
            bandwidthPackBytes: string;
            sshKeys: {
                id: string;
                name: string;
                fingerprint: string;
            }[];
            firewalls: {
                id: string;
                name: string;
            }[];
            placementGroup: {
                id: string;
                name: string;
            } | null;
            privateNetworks: {
                id: string;
                name: string;
                /** @description The VM's own address in it */
                ipAddress: string;
            }[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
            currentAction: {
                id: string;
                action: string;
                status: string;
                progress: number;
            } | null;
            /** @description What the API would accept now */
            allowedActions: string[];
            /** @enum {unknown} */
            readiness: "booting" | "reachable";
            statusReason: string | null;
            initialization: components["schemas"]["Initialization"] | null;
            rescue: components["schemas"]["Rescue"] | null;
            iso: components["schemas"]["AttachedIso"] | null;
        };
        VmCreated: {
            vm: components["schemas"]["Vm"];
            actionId: string;
            /** @description Only with count: all of them, in the order of their numbers */
            vms?: components["schemas"]["Vm"][] | undefined;
            /** @description Only with count: of each in the order of vms */
            actionIds?: string[] | undefined;
            /** @description Only with alternatives: the index of the one that is placed; null: the request itself */
            alternative?: (number | null) | undefined;
        };
        /** @description Of all VMs of a count, and of their new volumes */
        CreateQuote: {
            /** @description What would be taken from the wallet now, for example "12.00"; negative: given back */
            charge: string;
            /** @description What the VM would cost a month from then on */
            monthly: string;
            currency: string;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceAfter: string | null;
            /** @description Only with volumes: what new ones are of `charge` and `monthly` */
            volumesMonthly?: string | undefined;
            /** @description Only with alternatives: the index of the one that is placed; null: the request itself */
            alternative?: (number | null) | undefined;
        };
        CustomConfig: {
            vcpu: number;
            /** @description must be 512-262144 MiB in steps of 256 */
            ram: number;
            /** @description must be 5-4096 GiB */
            disk: number;
            /** @description GB (10^9 bytes) per billing month, where the catalog has a price for it; what is included when absent */
            bandwidth?: number | undefined;
            /** @description Mbit/s, where the catalog has a price for it; what is included when absent */
            networkSpeed?: number | undefined;
        };
        /** @description A new volume needs the scope volumes:create */
        VmVolume: {
            /** @description A detached volume of the account: then nothing else is given. The VM is placed on the host of one on LOCAL storage. Needs the scope volumes:update, and goes with no count above 1 */
            volumeId?: string | undefined;
            /** @description Of a new volume: required, with sizeGiB. With a count {n} stands for the number of the VM, as in name of the VM */
            name?: string | undefined;
            /** @description must be 1-16384 GiB */
            sizeGiB?: number | undefined;
            /**
             * @description Of a new volume; left out: REPLICATED where the region has it
             * @enum {unknown}
             */
            storage?: ("LOCAL" | "REPLICATED") | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /** @description Of a new volume: it cannot be deleted until this is false again */
            isProtected?: boolean | undefined;
        };
        /** @description At least one of them. What is left out is as in the request */
        VmAlternative: {
            /** @description must be an id: c and at least 8 more characters */
            regionId?: string | undefined;
            /** @description must be an id: c and at least 8 more characters */
            planId?: string | undefined;
            customConfig?: components["schemas"]["CustomConfig"] | undefined;
        };
        CreateVm: {
            /** @description must be an id: c and at least 8 more characters */
            regionId: string;
            /** @description Required without fromBackupId */
            osTemplateId?: string | undefined;
            /** @description Instead of osTemplateId: the VM begins with the disk of this backup of any VM of the account, as a guest of its own. The plan needs a disk as large, the token the scope backups:restore */
            fromBackupId?: string | undefined;
            /** @description Letters, digits and hyphens; with count also {n}, which stands for the number of the VM, such as web-{n} */
            hostname: string;
            /** @description must be an id: c and at least 8 more characters */
            planId?: string | undefined;
            customConfig?: components["schemas"]["CustomConfig"] | undefined;
            password?: string | undefined;
            sshKeyIds?: string[] | undefined;
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @default false */
            dailyBackupEnabled?: boolean | undefined;
            /** @default false */
            network10gEnabled?: boolean | undefined;
            /** @default false */
            isProtected?: boolean | undefined;
            firewallIds?: string[] | undefined;
            privateNetworkIds?: string[] | undefined;
            /** @description must be an id: c and at least 8 more characters */
            placementGroupId?: string | undefined;
            /** @description What cloud-init does at the first boot: a script (#!), cloud configuration (#cloud-config), a MIME multipart message of such parts, or either as gzip in base64. At most 64 KiB when decoded. It can never be read back */
            userData?: string | undefined;
            /** @description The VM has them from its first start. New ones are charged with the VM, and deleted and refunded where it cannot be built */
            volumes?: components["schemas"]["VmVolume"][] | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /**
             * @description False: IPv6 alone, where the region has it, for ipv4PriceMonthly of the plan less
             * @default true
             */
            publicIpv4?: boolean | undefined;
            /** @description So many VMs that are alike, all or none. In hostname and name {n} stands for the number of each, from 1; without {n} a hyphen and the number are appended where there are several */
            count?: number | undefined;
            /** @description What to try, in this order, where the request itself cannot be had now (no_capacity, unavailable). What is placed is charged; all VMs of a count are placed alike. Any other refusal, such as too little money for it, ends the request */
            alternatives?: components["schemas"]["VmAlternative"][] | undefined;
        };
        Quote: {
            /** @description What would be taken from the wallet now, for example "12.00"; negative: given back */
            charge: string;
            /** @description What the VM would cost a month from then on */
            monthly: string;
            currency: string;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceAfter: string | null;
        };
        /** @description What is not given stays. It holds from the next daily backup on. Backups beyond the seven newest cost as much as those on demand, from the next renewal on. keepWeekly and keepMonthly need a region with a backup target */
        BackupPolicyChange: {
            /** @description UTC, in which daily backups begin; null: a time of its own between 22:00 and 06:00 */
            hour?: (number | null) | undefined;
            /** @description The newest daily backups */
            keepDaily?: number | undefined;
            /** @description The newest of each of so many weeks, from Monday to Sunday */
            keepWeekly?: number | undefined;
            /** @description The newest of each of so many months */
            keepMonthly?: number | undefined;
        };
        UpdateVm: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            isProtected?: boolean | undefined;
            dailyBackupEnabled?: boolean | undefined;
            network10gEnabled?: boolean | undefined;
            backupPolicy?: components["schemas"]["BackupPolicyChange"] | undefined;
            /** @description The VM stays on its host; null takes it out of its group */
            placementGroupId?: (string | null) | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /** @description What reverse DNS (PTR) says of the address; null: nothing */
            reverseName?: (string | null) | undefined;
            /** @description What reverse DNS (PTR) says of the address; null: nothing */
            ipv6ReverseName?: (string | null) | undefined;
        };
        ActionStarted: {
            actionId: string;
        };
        ResizeQuote: {
            /** @description What would be taken from the wallet now, for example "12.00"; negative: given back */
            charge: string;
            /** @description What the VM would cost a month from then on */
            monthly: string;
            currency: string;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceAfter: string | null;
            /** @description Whether the running VM is shut down and started again, once. One that has room for its larger size gets it while it runs */
            restarts: boolean;
        };
        /** @description Either a plan or a custom configuration */
        UpgradeVm: {
            /** @description must be an id: c and at least 8 more characters */
            planId?: string | undefined;
            customConfig?: components["schemas"]["CustomConfig"] | undefined;
        };
        /** @description A plan, a custom configuration, or a larger disk. A disk never shrinks */
        ResizeVm: {
            /** @description must be an id: c and at least 8 more characters */
            planId?: string | undefined;
            customConfig?: components["schemas"]["CustomConfig"] | undefined;
            /** @description GiB. Alone: the disk grows, and everything else stays. With planId: a plan with a larger disk than its own. Either makes a custom configuration, which costs as much as before, or as the plan, and the additional disk */
            disk?: number | undefined;
        };
        RebuildVm: {
            /** @description must be an id: c and at least 8 more characters */
            osTemplateId: string;
            password?: string | undefined;
            sshKeyIds?: string[] | undefined;
            /** @description As in createVm; by default what the VM was made with, and null for none */
            userData?: (string | null) | undefined;
        };
        RescueVm: {
            /** @description Who can log in to the rescue system; by default the keys that the VM was made with */
            sshKeyIds?: string[] | undefined;
            /** @description Of the rescue system alone. Without keys it is required */
            password?: string | undefined;
        };
        AttachIso: {
            /** @description An image of kind ISO; the token needs the scope images:read */
            imageId: string;
            /** @description Restart a running VM, so that it starts from it now; false when absent: at its next start or restart */
            restart?: boolean | undefined;
        };
        SetPassword: {
            password: string;
        };
        ReachStep: {
            /** @enum {unknown} */
            step: "SENDER" | "OUTBOUND_FILTER" | "ROUTE" | "CLOSED_RANGE" | "DESTINATION" | "INBOUND_FILTER" | "RECEIVER";
            /** @description False only for the last step */
            passes: boolean;
            /** @description Of a filter: ACCEPT, DROP or REJECT */
            action: string | null;
            /** @description The firewall of the rule */
            firewallId: string | null;
            rule: components["schemas"]["FirewallRule"] | null;
            /** @description What decides here, in a sentence */
            detail: string;
            /** @description What to do where it does not pass, or, of a ROUTE, for guests to know the way */
            remedy: string | null;
            missingPeering: {
                id: string;
                name: string;
            }[] | null;
        };
        Reach: {
            /**
             * @description FORWARDED: it is handed to a gateway or router, or to an address that is no VM of the account; what happens there is not known
             * @enum {unknown}
             */
            verdict: "REACHABLE" | "FORWARDED" | "BLOCKED";
            source: {
                vmId: string;
                /** @description Of the private interface that sends; null for the public one */
                networkId: string | null;
                address: string | null;
            };
            destination: {
                /** @description Null for an address that no VM of the account has */
                vmId: string | null;
                address: string | null;
            };
            /** @description Whether the hosts of both VMs have their latest rules */
            applied: boolean;
            /** @description In the order of the packet */
            steps: components["schemas"]["ReachStep"][];
        };
        CheckReach: {
            /** @description An address, or the id of a VM: then the first of its addresses that is reached, in a network of both VMs before public ones */
            to: string;
            /** @enum {unknown} */
            protocol: "TCP" | "UDP" | "ICMP" | "ICMPV6";
            /** @description Destination port of TCP or UDP */
            port?: (number | null) | undefined;
        };
        AttachNetwork: {
            /** @description must be an id: c and at least 8 more characters */
            networkId: string;
        };
        Announcement: {
            id: string;
            /** @enum {unknown} */
            level: "INFO" | "WARNING" | "CRITICAL";
            /** @description What the operator says: plain text */
            text: string;
            /** @description It concerns who has something there; null: everybody */
            regionId: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            startsAt: string;
            /**
             * Format: date-time
             * @description null: until the operator withdraws it
             */
            endsAt: string | null;
        };
        ConsoleLink: {
            /** @description A WebSocket URL that opens the console once. It is a secret: whoever has it is at the console */
            url: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expiresAt: string;
        };
        /** @description serial is text and there is one on every host; vnc is the screen, where the host offers it */
        OpenConsole: {
            /** @enum {unknown} */
            type: "serial" | "vnc";
        };
        VmMetrics: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            from: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            to: string;
            /** @description Seconds between two points */
            step: number;
            /** @description Where each point begins; all series have as many values */
            timestamps: string[];
            /** @description Averages; null where nothing was measured */
            series: {
                /** @description Of all its vCPUs together: 0 to 100 */
                cpuPercent: (number | null)[];
                /** @description MiB, as the guest tells; null when it does not */
                ramUsed: (number | null)[];
                /** @description Read from its disks */
                diskReadBytesPerSecond: (number | null)[];
                /** @description Written to its disks */
                diskWriteBytesPerSecond: (number | null)[];
                /** @description Received on all interfaces */
                networkInBytesPerSecond: (number | null)[];
                /** @description Sent on all interfaces */
                networkOutBytesPerSecond: (number | null)[];
                /** @description How much of the time its vCPUs were ready to run and waited for a CPU of the host: 0 to 100 */
                cpuStealPercent: (number | null)[];
                /** @description Reads and writes of its disks */
                diskRequestsPerSecond: (number | null)[];
                /** @description How long such a request took; null without one */
                diskWaitMs: (number | null)[];
                /** @description MiB */
                ramTotal: (number | null)[];
            };
            /** @description The highest minute of each point */
            maxima: {
                /** @description Of all its vCPUs together: 0 to 100 */
                cpuPercent: (number | null)[];
                /** @description MiB, as the guest tells; null when it does not */
                ramUsed: (number | null)[];
                /** @description Read from its disks */
                diskReadBytesPerSecond: (number | null)[];
                /** @description Written to its disks */
                diskWriteBytesPerSecond: (number | null)[];
                /** @description Received on all interfaces */
                networkInBytesPerSecond: (number | null)[];
                /** @description Sent on all interfaces */
                networkOutBytesPerSecond: (number | null)[];
                /** @description How much of the time its vCPUs were ready to run and waited for a CPU of the host: 0 to 100 */
                cpuStealPercent: (number | null)[];
                /** @description Reads and writes of its disks */
                diskRequestsPerSecond: (number | null)[];
                /** @description How long such a request took; null without one */
                diskWaitMs: (number | null)[];
            };
        };
        /** @description Averages of a quarter of an hour each, of the last 6 hours; the newest is not over yet */
        RecentVmMetrics: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            from: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            to: string;
            /** @description Seconds between two points */
            step: number;
            /** @description In the order asked for */
            vms: {
                vmId: string;
                /** @description Of all its vCPUs together: 0 to 100. Null where nothing was measured */
                cpuPercent: (number | null)[];
                /** @description Received and sent on all interfaces together */
                networkBytesPerSecond: (number | null)[];
            }[];
        };
        SnapshotCreated: {
            snapshot: components["schemas"]["Snapshot"];
            actionId: string;
        };
        CreateSnapshot: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /** @description must be 0-500 characters, without control characters */
            description?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        /** @description At least one of them */
        UpdateSnapshot: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description must be 0-500 characters, without control characters */
            description?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        BulkActionStarted: {
            /** @description Each that was selected, by name */
            vms: {
                vmId: string;
                /** @description Empty where there is no such VM */
                vmName: string;
                /** @description Null where nothing stands against it */
                errorCode: string | null;
                /** @description Why this VM was refused; the others were not */
                error: string | null;
                /** @description Null of a VM that was refused */
                actionId: string | null;
            }[];
            started: number;
            refused: number;
        };
        BulkActionQuote: {
            /** @description Each that was selected, by name */
            vms: {
                vmId: string;
                /** @description Empty where there is no such VM */
                vmName: string;
                /** @description Null where nothing stands against it */
                errorCode: string | null;
                /** @description Why this VM was refused; the others were not */
                error: string | null;
                /** @description Of this VM; negative: given back. Null where it would be refused */
                charge: string | null;
            }[];
            /** @description How many would be */
            started: number;
            /** @description How many would be */
            refused: number;
            /** @description Of all together; negative: given back */
            charge: string;
            currency: string;
            /** @description Decimal with two places; null in a project, whose members do not see the wallet of the account that pays */
            balanceAfter: string | null;
        };
        StartBulkAction: {
            /** @description The VMs, at most 100: as in the list of VMs, such as `env=test,!keep`. Either this or vmIds is required */
            labelSelector?: string | undefined;
            /** @description The VMs by their ids instead of labelSelector. One that is not there is refused as the others that cannot */
            vmIds?: string[] | undefined;
            /**
             * @description As for a single VM, with its scope: vms:power for START, STOP and RESTART, vms:delete for DELETE, snapshots:create for SNAPSHOT
             * @enum {unknown}
             */
            action: "START" | "STOP" | "RESTART" | "DELETE" | "SNAPSHOT";
            /** @description Of STOP and RESTART: cut them off at once instead of asking the guests first */
            force?: boolean | undefined;
            /** @description Of the snapshots; required for SNAPSHOT */
            name?: string | undefined;
        };
        BackupCreated: {
            backup: components["schemas"]["Backup"];
            actionId: string;
        };
        CreateBackup: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        /** @description At least one of them */
        UpdateBackup: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        BackupScreenshot: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            takenAt: string;
            /**
             * Format: byte
             * @description A PNG of at most 480 x 360 pixels, in base64
             */
            png: string;
        };
        RestoreBackup: {
            /**
             * @description Has no effect: a VM whose host is lost is restored on another one with its private networks. Older clients still send it
             * @default false
             */
            withoutNetworks?: boolean | undefined;
        };
        BackupDeleted: {
            message: string;
        };
        ImageCreated: {
            image: components["schemas"]["Image"];
            actionId: string;
        };
        /** @description Exactly one of vmId, snapshotId, backupId and url */
        CreateImage: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /** @description Make it from this VM as it is now; the token needs the scope vms:update */
            vmId?: string | undefined;
            /** @description Make it from this snapshot; the token needs the scope snapshots:restore */
            snapshotId?: string | undefined;
            /** @description Make it from this backup; the token needs the scope backups:restore */
            backupId?: string | undefined;
            /** @description Import this file, by https from a public address: a qcow2 or raw disk, or an ISO image, as it is or compressed with gzip, zstd or xz */
            url?: string | undefined;
            /** @description Of the file at the URL; required with it */
            checksum?: string | undefined;
            /**
             * @description Of the file at the URL; DISK when absent
             * @enum {unknown}
             */
            kind?: ("DISK" | "ISO") | undefined;
            /**
             * @description Of the system on an imported disk; that of the hosts when absent
             * @enum {unknown}
             */
            arch?: ("x86_64" | "aarch64") | undefined;
            /** @description Of an imported disk: who gets SSH keys and password, by cloud-init; root when absent */
            defaultUser?: string | undefined;
            /** @description Of an imported disk: whether it runs the QEMU guest agent, which password resets need; false when absent */
            guestAgent?: boolean | undefined;
        };
        UpdateImage: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            isProtected?: boolean | undefined;
        };
        FirewallBinding: {
            firewallId: string;
            vmId: string;
        };
        BindFirewall: {
            /** @description must be an id: c and at least 8 more characters */
            vmId: string;
        };
        FirewallVerdict: {
            /** @description ACCEPT, DROP or REJECT */
            action: string;
            /** @description RULE, DEFAULT when no rule matches, or NO_FIREWALL when none filters the interface */
            decidedBy: string;
            /** @description The firewall of the rule; it may be another of the VM's firewalls */
            firewallId: string | null;
            rule: components["schemas"]["FirewallRule"] | null;
            /** @description Whether the VM's host has the latest rules */
            applied: boolean;
        };
        CheckPacket: {
            /** @description must be an id: c and at least 8 more characters */
            vmId: string;
            /** @enum {unknown} */
            direction: "IN" | "OUT";
            /** @enum {unknown} */
            protocol: "TCP" | "UDP" | "ICMP" | "ICMPV6";
            /** @description Destination port of TCP or UDP */
            port?: (number | null) | undefined;
            /** @description The other end */
            address: string;
            /** @description Of the private interface that is meant; the public one when absent */
            networkId?: (string | null) | undefined;
            /** @description Checks as if the firewall had these rules instead of its own */
            rules?: components["schemas"]["RuleInput"][] | undefined;
        };
        BandwidthUsage: {
            vmId: string;
            vmName: string;
            /** @description The VM's status */
            status: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            nextRenewalAt: string;
            throttled: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            throttledAt: string | null;
            /** @description Both directions, since the billing month began */
            usedBytes: number;
            /** @description Bytes as a decimal string */
            packBytes: string;
            /** @description Plan and packs in bytes, as a decimal string; null = unmetered */
            capBytes: string | null;
        };
        BuyBandwidthPack: {
            /** @description GB (10^9 bytes); they last until the next renewal */
            gigabytes: number;
        };
        ReserveAddress: {
            /** @description The region whose VMs can have it */
            regionId: string;
            /** @description Left out, it is the address itself */
            name?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        UpdateAddress: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /** @description What reverse DNS (PTR) says of the address; null: nothing */
            reverseName?: (string | null) | undefined;
        };
        ReleasedAddress: {
            id: string;
        };
        AddressMoving: {
            /** @description The VM that gets it, or loses it: its actions show this one */
            vmId: string;
            actionId: string;
        };
        AssignAddress: {
            /** @description A VM of the same region */
            vmId: string;
            /** @description The VM that has it now, null for none. If another has it, nothing changes and the answer is 409 */
            expectedVmId?: (string | null) | undefined;
        };
        CreateVolume: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /** @description must be 1-16384 GiB */
            sizeGiB: number;
            /** @description The region whose VMs can have it */
            regionId: string;
            /** @description A VM of the region that it is attached to at once */
            vmId?: string | undefined;
            /** @description A snapshot of a volume, whose data the new one begins with. It lies where the snapshot is; it cannot be given with vmId, and needs the scope snapshots:restore */
            snapshotId?: string | undefined;
            /**
             * @description REPLICATED: any VM of the region can have it. LOCAL: it lies on one host, that of vmId, and only VMs of this host can have it. Left out: REPLICATED where the region has it
             * @enum {unknown}
             */
            storage?: ("LOCAL" | "REPLICATED") | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            /** @description It cannot be deleted until this is false again */
            isProtected?: boolean | undefined;
        };
        UpdateVolume: {
            /** @description must be 1-100 characters on one line, without control characters */
            name?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
            isProtected?: boolean | undefined;
            /** @description It can only grow. A running guest sees the new size at once, and grows its filesystem itself */
            sizeGiB?: number | undefined;
        };
        DeletedVolume: {
            id: string;
        };
        VolumeChanging: {
            /** @description The VM that gets it, or loses it: its actions show this one */
            vmId: string;
            actionId: string;
        };
        AttachVolume: {
            /** @description A VM of the same region; of a volume on LOCAL storage, of the same host */
            vmId: string;
        };
        VolumeSnapshotCreated: {
            snapshot: components["schemas"]["VolumeSnapshot"];
            actionId: string;
        };
        Alert: {
            id: string;
            name: string;
            /** @enum {unknown} */
            metric: "cpuPercent" | "ramPercent" | "diskReadBytesPerSecond" | "diskWriteBytesPerSecond" | "networkInBytesPerSecond" | "networkOutBytesPerSecond" | "trafficPercent" | "balanceDays";
            /** @enum {unknown} */
            comparison: "ABOVE" | "BELOW";
            threshold: number;
            forMinutes: number | null;
            vmIds: string[] | null;
            labelSelector: string | null;
            labels: {
                [key: string]: string;
            };
            /** @description Where it is so now */
            firing: {
                /** @description Null for the account */
                vmId: string | null;
                vmName: string | null;
                /** @description When it fired */
                value: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                firedAt: string;
            }[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
        };
        /** @description Of VMs: of those in vmIds, or that labelSelector selects, or of all */
        CreateAlert: {
            /** @description must be 1-100 characters on one line, without control characters */
            name: string;
            /**
             * @description Of VMs: `cpuPercent` of all their vCPUs, `ramPercent` where the guest tells it, the rates of disk and network, and `trafficPercent` of what is included this month. Of the account: `balanceDays` that the balance lasts
             * @enum {unknown}
             */
            metric: "cpuPercent" | "ramPercent" | "diskReadBytesPerSecond" | "diskWriteBytesPerSecond" | "networkInBytesPerSecond" | "networkOutBytesPerSecond" | "trafficPercent" | "balanceDays";
            /** @enum {unknown} */
            comparison: "ABOVE" | "BELOW";
            /** @description Percent, bytes per second, or days */
            threshold: number;
            /** @description How long it must be so; 5 unless given. Not for trafficPercent and balanceDays, which are so at once */
            forMinutes?: number | undefined;
            vmIds?: string[] | undefined;
            /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
            labelSelector?: string | undefined;
            /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        WebhookWithSecret: {
            id: string;
            url: string;
            events: string[];
            /** @description False after a 410, after 10 failures in a row with no success for 5 days, or when switched off */
            isActive: boolean;
            description: string;
            labels: {
                [key: string]: string;
            };
            /** @description Only events of resources with such labels are sent; null: all */
            labelSelector: string | null;
            /** @description Attempts that have failed in a row */
            failCount: number;
            /** @description Why isActive became false by itself */
            disabledReason: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            lastSuccessAt: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
            /** @description whsec_…, shown this once: signatures are checked with it (Standard Webhooks) */
            secret: string;
        };
        WebhookDelivery: {
            /** @description The webhook-id header, the same on every attempt */
            id: string;
            /** @description Null for a test */
            eventId: string | null;
            type: string;
            /** @enum {unknown} */
            status: "PENDING" | "SUCCEEDED" | "EXHAUSTED" | "CANCELLED";
            /** @description Of 8; a redelivery begins anew */
            attempts: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            nextAttemptAt: string | null;
            /** @description Of the last attempt, as are error and latencyMs */
            responseStatus: number | null;
            error: string | null;
            latencyMs: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completedAt: string | null;
        };
        WebhookAttempt: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            attemptedAt: string;
            latencyMs: number;
            url: string;
            requestHeaders: {
                [key: string]: string;
            };
            responseStatus: number | null;
            /** @description The first 1024 bytes */
            responseBody: string;
            error: string | null;
        };
        WebhookDeliveryLog: {
            /** @description The webhook-id header, the same on every attempt */
            id: string;
            /** @description Null for a test */
            eventId: string | null;
            type: string;
            /** @enum {unknown} */
            status: "PENDING" | "SUCCEEDED" | "EXHAUSTED" | "CANCELLED";
            /** @description Of 8; a redelivery begins anew */
            attempts: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            nextAttemptAt: string | null;
            /** @description Of the last attempt, as are error and latencyMs */
            responseStatus: number | null;
            error: string | null;
            latencyMs: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completedAt: string | null;
            /** @description What is sent and signed, byte for byte */
            requestBody: string;
            /** @description The newest 50 attempts, oldest first */
            log: components["schemas"]["WebhookAttempt"][];
        };
        TicketWithReplies: {
            id: string;
            subject: string;
            /**
             * @description OPEN waits for support, ANSWERED for you
             * @enum {string}
             */
            status: "OPEN" | "ANSWERED" | "CLOSED";
            replyCount: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            closedAt: string | null;
            body: string;
            /** @description The oldest first */
            replies: components["schemas"]["TicketReply"][];
        };
        Project: {
            /** @description Of an account: to name it where one of several is meant */
            id: string;
            name: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            createdAt: string;
            budget: components["schemas"]["Budget"] | null;
            /** @description VMs in it; the limits of the account are for all its projects together */
            vmCount: number;
        };
        SearchResult: {
            /** @enum {unknown} */
            kind: "vm" | "address" | "network" | "firewall" | "volume" | "volume_snapshot" | "snapshot" | "backup" | "image" | "ssh_key" | "placement_group" | "alert" | "webhook" | "project" | "token" | "action";
            id: string;
            name: string;
            /** @description What was found where that is not the name, such as an address; or what else tells it from others */
            detail: string | null;
            /** @description The VM that it belongs to */
            vmId?: string | undefined;
            labels?: {
                [key: string]: string;
            } | undefined;
        };
        WebhookTestEventData: {
            webhookId: string;
        };
        /** @enum {string} */
        ErrorCode: "invalid_json" | "malformed_request" | "validation_failed" | "unauthorized" | "wrong_credentials" | "wrong_totp" | "insufficient_funds" | "budget_exceeded" | "missing_scope" | "account_required" | "in_project" | "two_factor_required" | "origin_not_allowed" | "https_required" | "operator_only" | "reauthentication_required" | "identity_refused" | "sign_up_closed" | "not_found" | "method_not_allowed" | "request_timeout" | "busy" | "invalid_state" | "version_conflict" | "protected" | "in_use" | "already_exists" | "networks_overlap" | "networks_lost" | "idempotency_in_progress" | "link_gone" | "payload_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "too_many_idempotency_keys" | "plan_not_larger" | "unavailable" | "incompatible" | "quota_exceeded" | "region_mismatch" | "url_not_allowed" | "rate_limited" | "headers_too_large" | "internal_error" | "no_capacity" | "service_unavailable";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Region = components['schemas']['Region'];
export type Plan = components['schemas']['Plan'];
export type OsTemplate = components['schemas']['OsTemplate'];
export type Budget = components['schemas']['Budget'];
export type Account = components['schemas']['Account'];
export type AccountLimit = components['schemas']['AccountLimit'];
export type Member = components['schemas']['Member'];
export type Pagination = components['schemas']['Pagination'];
export type ChangedMember = components['schemas']['ChangedMember'];
export type RemovedMember = components['schemas']['RemovedMember'];
export type BudgetLimits = components['schemas']['BudgetLimits'];
export type Invitation = components['schemas']['Invitation'];
export type NewInvitation = components['schemas']['NewInvitation'];
export type DeletedInvitation = components['schemas']['DeletedInvitation'];
export type ActionInitialization = components['schemas']['ActionInitialization'];
export type Action = components['schemas']['Action'];
export type VmListItem = components['schemas']['VmListItem'];
export type VmEventData = components['schemas']['VmEventData'];
export type VmEvent = components['schemas']['VmEvent'];
export type IsoEventData = components['schemas']['IsoEventData'];
export type IsoEvent = components['schemas']['IsoEvent'];
export type Initialization = components['schemas']['Initialization'];
export type InitializationEventData = components['schemas']['InitializationEventData'];
export type InitializationEvent = components['schemas']['InitializationEvent'];
export type NetworkEventData = components['schemas']['NetworkEventData'];
export type NetworkEvent = components['schemas']['NetworkEvent'];
export type LowBalanceEventData = components['schemas']['LowBalanceEventData'];
export type LowBalanceEvent = components['schemas']['LowBalanceEvent'];
export type Transaction = components['schemas']['Transaction'];
export type PaymentEventData = components['schemas']['PaymentEventData'];
export type PaymentEvent = components['schemas']['PaymentEvent'];
export type Ticket = components['schemas']['Ticket'];
export type TicketReply = components['schemas']['TicketReply'];
export type TicketReplyEventData = components['schemas']['TicketReplyEventData'];
export type TicketReplyEvent = components['schemas']['TicketReplyEvent'];
export type TicketClosedEventData = components['schemas']['TicketClosedEventData'];
export type TicketClosedEvent = components['schemas']['TicketClosedEvent'];
export type Snapshot = components['schemas']['Snapshot'];
export type SnapshotEventData = components['schemas']['SnapshotEventData'];
export type SnapshotEvent = components['schemas']['SnapshotEvent'];
export type Backup = components['schemas']['Backup'];
export type BackupEventData = components['schemas']['BackupEventData'];
export type BackupEvent = components['schemas']['BackupEvent'];
export type RestoreFailedEventData = components['schemas']['RestoreFailedEventData'];
export type RestoreFailedEvent = components['schemas']['RestoreFailedEvent'];
export type Image = components['schemas']['Image'];
export type ImageEventData = components['schemas']['ImageEventData'];
export type ImageEvent = components['schemas']['ImageEvent'];
export type ConsoleEventData = components['schemas']['ConsoleEventData'];
export type ConsoleEvent = components['schemas']['ConsoleEvent'];
export type Address = components['schemas']['Address'];
export type AddressEventData = components['schemas']['AddressEventData'];
export type AddressEvent = components['schemas']['AddressEvent'];
export type Volume = components['schemas']['Volume'];
export type VolumeEventData = components['schemas']['VolumeEventData'];
export type VolumeEvent = components['schemas']['VolumeEvent'];
export type VolumeSnapshot = components['schemas']['VolumeSnapshot'];
export type VolumeSnapshotEventData = components['schemas']['VolumeSnapshotEventData'];
export type VolumeSnapshotEvent = components['schemas']['VolumeSnapshotEvent'];
export type Maintenance = components['schemas']['Maintenance'];
export type MaintenanceEventData = components['schemas']['MaintenanceEventData'];
export type MaintenanceEvent = components['schemas']['MaintenanceEvent'];
export type EventMember = components['schemas']['EventMember'];
export type MemberEventData = components['schemas']['MemberEventData'];
export type MemberEvent = components['schemas']['MemberEvent'];
export type EventToken = components['schemas']['EventToken'];
export type TokenEventData = components['schemas']['TokenEventData'];
export type TokenEvent = components['schemas']['TokenEvent'];
export type AlertEventData = components['schemas']['AlertEventData'];
export type AlertEvent = components['schemas']['AlertEvent'];
export type EventProject = components['schemas']['EventProject'];
export type ProjectEventData = components['schemas']['ProjectEventData'];
export type ProjectEvent = components['schemas']['ProjectEvent'];
export type EventFirewall = components['schemas']['EventFirewall'];
export type FirewallRulesChangedEventData = components['schemas']['FirewallRulesChangedEventData'];
export type FirewallRulesChangedEvent = components['schemas']['FirewallRulesChangedEvent'];
export type FirewallRulesUndoneEventData = components['schemas']['FirewallRulesUndoneEventData'];
export type FirewallRulesUndoneEvent = components['schemas']['FirewallRulesUndoneEvent'];
export type FirewallUndoFailedEventData = components['schemas']['FirewallUndoFailedEventData'];
export type FirewallUndoFailedEvent = components['schemas']['FirewallUndoFailedEvent'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookDisabledEventData = components['schemas']['WebhookDisabledEventData'];
export type WebhookDisabledEvent = components['schemas']['WebhookDisabledEvent'];
export type Event = components['schemas']['Event'];
export type Wallet = components['schemas']['Wallet'];
export type TransactionDetail = components['schemas']['TransactionDetail'];
export type Costs = components['schemas']['Costs'];
export type WalletTimeline = components['schemas']['WalletTimeline'];
export type Deposit = components['schemas']['Deposit'];
export type CreateDeposit = components['schemas']['CreateDeposit'];
export type InvoiceSummary = components['schemas']['InvoiceSummary'];
export type Invoice = components['schemas']['Invoice'];
export type FieldChange = components['schemas']['FieldChange'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type Token = components['schemas']['Token'];
export type NewToken = components['schemas']['NewToken'];
export type RevokedToken = components['schemas']['RevokedToken'];
export type Node = components['schemas']['Node'];
export type SshKey = components['schemas']['SshKey'];
export type PlacementGroup = components['schemas']['PlacementGroup'];
export type CreatePlacementGroup = components['schemas']['CreatePlacementGroup'];
export type Network = components['schemas']['Network'];
export type CreateNetwork = components['schemas']['CreateNetwork'];
export type RenameNetwork = components['schemas']['RenameNetwork'];
export type DeletedNetwork = components['schemas']['DeletedNetwork'];
export type NetworkAttachment = components['schemas']['NetworkAttachment'];
export type NetworkRoute = components['schemas']['NetworkRoute'];
export type CreateNetworkRoute = components['schemas']['CreateNetworkRoute'];
export type NetworkPeering = components['schemas']['NetworkPeering'];
export type CreateNetworkPeering = components['schemas']['CreateNetworkPeering'];
export type Firewall = components['schemas']['Firewall'];
export type CreateFirewall = components['schemas']['CreateFirewall'];
export type ChangeFirewall = components['schemas']['ChangeFirewall'];
export type FirewallRule = components['schemas']['FirewallRule'];
export type AddRule = components['schemas']['AddRule'];
export type RuleInput = components['schemas']['RuleInput'];
export type ReplaceRules = components['schemas']['ReplaceRules'];
export type FirewallUndo = components['schemas']['FirewallUndo'];
export type UndoRules = components['schemas']['UndoRules'];
export type ConfirmRules = components['schemas']['ConfirmRules'];
export type ChangeRule = components['schemas']['ChangeRule'];
export type FirewallBindingState = components['schemas']['FirewallBindingState'];
export type Availability = components['schemas']['Availability'];
export type BackupPolicy = components['schemas']['BackupPolicy'];
export type Rescue = components['schemas']['Rescue'];
export type AttachedIso = components['schemas']['AttachedIso'];
export type Vm = components['schemas']['Vm'];
export type VmCreated = components['schemas']['VmCreated'];
export type CreateQuote = components['schemas']['CreateQuote'];
export type CustomConfig = components['schemas']['CustomConfig'];
export type VmVolume = components['schemas']['VmVolume'];
export type VmAlternative = components['schemas']['VmAlternative'];
export type CreateVm = components['schemas']['CreateVm'];
export type Quote = components['schemas']['Quote'];
export type BackupPolicyChange = components['schemas']['BackupPolicyChange'];
export type UpdateVm = components['schemas']['UpdateVm'];
export type ActionStarted = components['schemas']['ActionStarted'];
export type ResizeQuote = components['schemas']['ResizeQuote'];
export type UpgradeVm = components['schemas']['UpgradeVm'];
export type ResizeVm = components['schemas']['ResizeVm'];
export type RebuildVm = components['schemas']['RebuildVm'];
export type RescueVm = components['schemas']['RescueVm'];
export type AttachIso = components['schemas']['AttachIso'];
export type SetPassword = components['schemas']['SetPassword'];
export type ReachStep = components['schemas']['ReachStep'];
export type Reach = components['schemas']['Reach'];
export type CheckReach = components['schemas']['CheckReach'];
export type AttachNetwork = components['schemas']['AttachNetwork'];
export type Announcement = components['schemas']['Announcement'];
export type ConsoleLink = components['schemas']['ConsoleLink'];
export type OpenConsole = components['schemas']['OpenConsole'];
export type VmMetrics = components['schemas']['VmMetrics'];
export type RecentVmMetrics = components['schemas']['RecentVmMetrics'];
export type SnapshotCreated = components['schemas']['SnapshotCreated'];
export type CreateSnapshot = components['schemas']['CreateSnapshot'];
export type UpdateSnapshot = components['schemas']['UpdateSnapshot'];
export type BulkActionStarted = components['schemas']['BulkActionStarted'];
export type BulkActionQuote = components['schemas']['BulkActionQuote'];
export type StartBulkAction = components['schemas']['StartBulkAction'];
export type BackupCreated = components['schemas']['BackupCreated'];
export type CreateBackup = components['schemas']['CreateBackup'];
export type UpdateBackup = components['schemas']['UpdateBackup'];
export type BackupScreenshot = components['schemas']['BackupScreenshot'];
export type RestoreBackup = components['schemas']['RestoreBackup'];
export type BackupDeleted = components['schemas']['BackupDeleted'];
export type ImageCreated = components['schemas']['ImageCreated'];
export type CreateImage = components['schemas']['CreateImage'];
export type UpdateImage = components['schemas']['UpdateImage'];
export type FirewallBinding = components['schemas']['FirewallBinding'];
export type BindFirewall = components['schemas']['BindFirewall'];
export type FirewallVerdict = components['schemas']['FirewallVerdict'];
export type CheckPacket = components['schemas']['CheckPacket'];
export type BandwidthUsage = components['schemas']['BandwidthUsage'];
export type BuyBandwidthPack = components['schemas']['BuyBandwidthPack'];
export type ReserveAddress = components['schemas']['ReserveAddress'];
export type UpdateAddress = components['schemas']['UpdateAddress'];
export type ReleasedAddress = components['schemas']['ReleasedAddress'];
export type AddressMoving = components['schemas']['AddressMoving'];
export type AssignAddress = components['schemas']['AssignAddress'];
export type CreateVolume = components['schemas']['CreateVolume'];
export type UpdateVolume = components['schemas']['UpdateVolume'];
export type DeletedVolume = components['schemas']['DeletedVolume'];
export type VolumeChanging = components['schemas']['VolumeChanging'];
export type AttachVolume = components['schemas']['AttachVolume'];
export type VolumeSnapshotCreated = components['schemas']['VolumeSnapshotCreated'];
export type Alert = components['schemas']['Alert'];
export type CreateAlert = components['schemas']['CreateAlert'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookAttempt = components['schemas']['WebhookAttempt'];
export type WebhookDeliveryLog = components['schemas']['WebhookDeliveryLog'];
export type TicketWithReplies = components['schemas']['TicketWithReplies'];
export type Project = components['schemas']['Project'];
export type SearchResult = components['schemas']['SearchResult'];
export type WebhookTestEventData = components['schemas']['WebhookTestEventData'];
export type ErrorCode = components['schemas']['ErrorCode'];
export interface operations {
    listRegions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Region"][];
                    };
                };
            };
        };
    };
    listPlans: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Plan"][];
                    };
                };
            };
        };
    };
    listOsTemplates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["OsTemplate"][];
                    };
                };
            };
        };
    };
    getOsTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["OsTemplate"];
                    };
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 0-100 characters on one line, without control characters */
                    name?: string | undefined;
                    /** @description Only a signed-in owner changes it, and only one with two-factor authentication switches it on */
                    requireTwoFactor?: boolean | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    listAccountLimits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AccountLimit"][];
                    };
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Member"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    deleteMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RemovedMember"];
                    };
                };
            };
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    role?: ("owner" | "admin" | "operator" | "billing" | "read-only" | "custom") | undefined;
                    /** @description Of the role `custom`, and only of it. Shorthands such as *, vms:* and *:read are expanded */
                    scopes?: string[] | undefined;
                    budget?: ({
                        /** @description What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit */
                        monthlyAmount?: (string | null) | undefined;
                        /** @description How many VMs that were created through it may exist at a time; null = no limit */
                        maxVms?: (number | null) | undefined;
                        /** @description It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything */
                        labelSelector?: (string | null) | undefined;
                    } | null) | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ChangedMember"];
                    };
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Invitation"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be an e-mail address */
                    email: string;
                    /** @enum {unknown} */
                    role: "owner" | "admin" | "operator" | "billing" | "read-only" | "custom";
                    /** @description Of the role `custom`, and only of it. Shorthands such as *, vms:* and *:read are expanded */
                    scopes?: string[] | undefined;
                    budget?: ({
                        /** @description What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit */
                        monthlyAmount?: (string | null) | undefined;
                        /** @description How many VMs that were created through it may exist at a time; null = no limit */
                        maxVms?: (number | null) | undefined;
                        /** @description It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything */
                        labelSelector?: (string | null) | undefined;
                    } | null) | undefined;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NewInvitation"];
                    };
                };
            };
        };
    };
    deleteInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DeletedInvitation"];
                    };
                };
            };
        };
    };
    getAction: {
        parameters: {
            query?: {
                /** @description Seconds to wait for the end of the action before answering */
                wait?: number;
            };
            header?: never;
            path: {
                id: string;
                actionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Action"];
                    };
                };
            };
        };
    };
    listVmActions: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                status?: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Action"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    listActions: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                status?: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Action"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The cursor of the last event already seen; left out, the list begins with the oldest event and a stream with the next one */
                after?: string;
                limit?: number;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Event"][];
                    };
                };
            };
        };
    };
    getWallet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Wallet"];
                    };
                };
            };
        };
    };
    listWalletTransactions: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                type?: "DEPOSIT" | "CREDIT" | "VM_CHARGE" | "VM_RENEWAL" | "VM_UPGRADE" | "VM_REFUND" | "BANDWIDTH_PACK" | "ADDON_CHARGE" | "ADJUSTMENT" | "ADDRESS_CHARGE" | "ADDRESS_RENEWAL" | "ADDRESS_REFUND" | "IMAGE_CHARGE" | "IMAGE_RENEWAL" | "IMAGE_REFUND" | "VOLUME_CHARGE" | "VOLUME_UPGRADE" | "VOLUME_RENEWAL" | "VOLUME_REFUND" | "VM_UNSHELVE";
                /** @description ISO 8601 date or date-time, UTC unless it says otherwise; a date means its first moment */
                dateFrom?: string;
                /** @description ISO 8601 date or date-time, UTC unless it says otherwise; a date means its last moment */
                dateTo?: string;
                /** @description COST: what was bought, and refunds of it. PAYMENT: deposits, credits and adjustments */
                kind?: "COST" | "PAYMENT";
                /** @description The id of what it was for, such as a VM; also of one that is deleted */
                referenceId?: string;
                /** @description Of this project; none = of the account itself. Within a project it is always that one */
                projectId?: string;
                /** @description Of what has these labels, or had them when it was deleted, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Transaction"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    getWalletTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TransactionDetail"];
                    };
                };
            };
        };
    };
    getWalletCosts: {
        parameters: {
            query?: {
                /** @description Such as 2027-01, by UTC; the present one unless given */
                month?: string;
                /** @description resource: each VM, volume, image and address; type: of the transactions; project; label:env: each value of this label */
                by?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Costs"];
                    };
                };
            };
        };
    };
    getWalletTimeline: {
        parameters: {
            query?: {
                /** @description How far back and ahead */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WalletTimeline"];
                    };
                };
            };
        };
    };
    listDeposits: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deposit"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDeposit"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deposit"];
                    };
                };
            };
        };
    };
    getDeposit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Deposit"];
                    };
                };
            };
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["InvoiceSummary"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    getInvoice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Invoice"];
                    };
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description ISO 8601 date or date-time, UTC unless it says otherwise; a date means its first moment */
                dateFrom?: string;
                /** @description ISO 8601 date or date-time, UTC unless it says otherwise; a date means its last moment */
                dateTo?: string;
                /** @description Only this action, for example createVm. Among the newest 100,000 lines of the time asked for */
                action?: string;
                /** @description Only what was done with this token. Among the newest 100,000 lines of the time asked for */
                tokenId?: string;
                /** @description Only what this person did, signed in or by a token of theirs. Among the newest 100,000 lines of the time asked for */
                personId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AuditEntry"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Token"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name: string;
                    /** @description Shorthands such as *, vms:* and *:read are expanded. A token can give only what it has itself */
                    scopes: string[];
                    /**
                     * Format: date-time
                     * @description ISO 8601, UTC
                     */
                    expiresAt?: (string | null) | undefined;
                    /** @description Addresses and ranges such as 10.0.0.0/8 from which it may be used; empty = from everywhere */
                    allowedIps?: string[] | undefined;
                    budget?: ({
                        /** @description What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit */
                        monthlyAmount?: (string | null) | undefined;
                        /** @description How many VMs that were created through it may exist at a time; null = no limit */
                        maxVms?: (number | null) | undefined;
                        /** @description It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything */
                        labelSelector?: (string | null) | undefined;
                    } | null) | undefined;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NewToken"];
                    };
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Token"];
                    };
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RevokedToken"];
                    };
                };
            };
        };
    };
    updateToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name?: string | undefined;
                    /** @description Shorthands such as *, vms:* and *:read are expanded. A token can give only what it has itself */
                    scopes?: string[] | undefined;
                    /**
                     * Format: date-time
                     * @description ISO 8601, UTC
                     */
                    expiresAt?: (string | null) | undefined;
                    /** @description Addresses and ranges such as 10.0.0.0/8 from which it may be used; empty = from everywhere */
                    allowedIps?: string[] | undefined;
                    budget?: ({
                        /** @description What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit */
                        monthlyAmount?: (string | null) | undefined;
                        /** @description How many VMs that were created through it may exist at a time; null = no limit */
                        maxVms?: (number | null) | undefined;
                        /** @description It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything */
                        labelSelector?: (string | null) | undefined;
                    } | null) | undefined;
                    /**
                     * @description Revokes it for good; it stays listed
                     * @constant
                     */
                    isActive?: false | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Token"];
                    };
                };
            };
        };
    };
    listNodes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Node"][];
                    };
                };
            };
        };
    };
    listSshKeys: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending */
                sort?: "createdAt" | "-createdAt" | "name" | "-name" | "type" | "-type" | "vmCount" | "-vmCount";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SshKey"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createSshKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name: string;
                    /** @description One OpenSSH public key: ssh-ed25519, ssh-rsa of at least 2048 bits, ecdsa-sha2-nistp256/384/521, or a security key (sk-…) */
                    publicKey: string;
                    /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
                    labels?: {
                        [key: string]: string;
                    } | undefined;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SshKey"];
                    };
                };
            };
        };
    };
    getSshKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SshKey"];
                    };
                };
            };
        };
    };
    deleteSshKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    renameSshKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name?: string | undefined;
                    /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
                    labels?: {
                        [key: string]: string;
                    } | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SshKey"];
                    };
                };
            };
        };
    };
    listPlacementGroups: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PlacementGroup"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createPlacementGroup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePlacementGroup"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PlacementGroup"];
                    };
                };
            };
        };
    };
    getPlacementGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PlacementGroup"];
                    };
                };
            };
        };
    };
    deletePlacementGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    renamePlacementGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name?: string | undefined;
                    /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
                    labels?: {
                        [key: string]: string;
                    } | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["PlacementGroup"];
                    };
                };
            };
        };
    };
    listNetworks: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only those of this region */
                regionId?: string;
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending; region by its name */
                sort?: "createdAt" | "-createdAt" | "name" | "-name" | "cidr" | "-cidr" | "region" | "-region" | "attachmentCount" | "-attachmentCount";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Network"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNetwork"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Network"];
                    };
                };
            };
        };
    };
    getNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Network"];
                    };
                };
            };
        };
    };
    deleteNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DeletedNetwork"];
                    };
                };
            };
        };
    };
    renameNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenameNetwork"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Network"];
                    };
                };
            };
        };
    };
    listNetworkAttachments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkAttachment"][];
                    };
                };
            };
        };
    };
    listNetworkRoutes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkRoute"][];
                    };
                };
            };
        };
    };
    createNetworkRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNetworkRoute"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkRoute"];
                    };
                };
            };
        };
    };
    getNetworkRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkRoute"];
                    };
                };
            };
        };
    };
    deleteNetworkRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DeletedNetwork"];
                    };
                };
            };
        };
    };
    listNetworkPeerings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkPeering"][];
                    };
                };
            };
        };
    };
    createNetworkPeering: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNetworkPeering"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkPeering"];
                    };
                };
            };
        };
    };
    getNetworkPeering: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                peeringId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["NetworkPeering"];
                    };
                };
            };
        };
    };
    deleteNetworkPeering: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                peeringId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DeletedNetwork"];
                    };
                };
            };
        };
    };
    listFirewalls: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending */
                sort?: "createdAt" | "-createdAt" | "name" | "-name" | "ruleCount" | "-ruleCount" | "bindingCount" | "-bindingCount";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Firewall"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createFirewall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFirewall"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Firewall"];
                    };
                };
            };
        };
    };
    getFirewall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Firewall"];
                    };
                };
            };
        };
    };
    deleteFirewall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    changeFirewall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeFirewall"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Firewall"];
                    };
                };
            };
        };
    };
    listFirewallRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallRule"][];
                    };
                };
            };
        };
    };
    replaceFirewallRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplaceRules"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallRule"][];
                    };
                };
            };
        };
    };
    addFirewallRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddRule"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallRule"];
                    };
                };
            };
        };
    };
    getFirewallUndo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallUndo"];
                    };
                };
            };
        };
    };
    undoFirewallRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UndoRules"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallRule"][];
                    };
                };
            };
        };
    };
    confirmFirewallRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConfirmRules"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Firewall"];
                    };
                };
            };
        };
    };
    getFirewallRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallRule"];
                    };
                };
            };
        };
    };
    deleteFirewallRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    changeFirewallRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeRule"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallRule"];
                    };
                };
            };
        };
    };
    listFirewallBindings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallBindingState"][];
                    };
                };
            };
        };
    };
    bindFirewall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BindFirewall"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallBinding"];
                    };
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallBinding"];
                    };
                };
            };
        };
    };
    getFirewallBinding: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                vmId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallBindingState"];
                    };
                };
            };
        };
    };
    unbindFirewall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                vmId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallBinding"];
                    };
                };
            };
        };
    };
    listAvailability: {
        parameters: {
            query?: {
                /** @description Slug or id of a region */
                region?: string;
                /** @description Slug or id of a plan */
                plan?: string;
                architecture?: "x86_64" | "aarch64";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Availability"][];
                    };
                };
            };
        };
    };
    listVms: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                status?: "PROVISIONING" | "RUNNING" | "STOPPED" | "SUSPENDED" | "REBUILDING" | "UPGRADING" | "UNMANAGED" | "ERROR";
                /** @description Slug or id of a region */
                region?: string;
                /** @description Slug or id of a plan; custom = a custom configuration */
                plan?: string;
                /** @description Id of a private network */
                network?: string;
                /** @description Id of a firewall */
                firewall?: string;
                /** @description Whether they are shelved */
                shelved?: boolean;
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description A public address, or the address in a private network */
                address?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending; region and plan by their names */
                sort?: "createdAt" | "-createdAt" | "name" | "-name" | "nextRenewalAt" | "-nextRenewalAt" | "status" | "-status" | "priceMonthly" | "-priceMonthly" | "region" | "-region" | "plan" | "-plan";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VmListItem"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["CreateQuote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VmCreated"];
                    };
                };
            };
        };
    };
    getVm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Vm"];
                    };
                };
            };
        };
    };
    deleteVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    updateVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateVm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Vm"] | components["schemas"]["Quote"];
                    };
                };
            };
        };
    };
    startVm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    stopVm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Cut it off at once instead of asking the guest first */
                    force?: boolean | undefined;
                };
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    restartVm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Cut it off at once instead of asking the guest first */
                    force?: boolean | undefined;
                };
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    upgradeVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpgradeVm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ResizeQuote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    resizeVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResizeVm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ResizeQuote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    rebuildVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RebuildVm"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    shelveVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    unshelveVm: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    rescueVm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RescueVm"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    unrescueVm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    attachIso: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttachIso"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    detachIso: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    setVmPassword: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPassword"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    checkReach: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckReach"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Reach"];
                    };
                };
            };
        };
    };
    attachNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttachNetwork"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    detachNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                networkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    listAnnouncements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Announcement"][];
                    };
                };
            };
        };
    };
    listMaintenances: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Maintenance"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    openConsole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenConsole"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ConsoleLink"];
                    };
                };
            };
        };
    };
    getVmMetrics: {
        parameters: {
            query?: {
                /** @description The beginning; an hour before `to` unless given. Metrics are kept for 30 days */
                from?: string;
                /** @description The end; now unless given */
                to?: string;
                /** @description Seconds between two points: a multiple of 60, or of 900 for a range that begins more than 24 hours ago; chosen by the length of the range unless given */
                step?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VmMetrics"];
                    };
                };
            };
        };
    };
    getRecentVmMetrics: {
        parameters: {
            query: {
                /** @description Ids of at most 100 VMs, separated by commas. Those that the account does not have are left out */
                vmIds: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["RecentVmMetrics"];
                    };
                };
            };
        };
    };
    listSnapshots: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path: {
                vmId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Snapshot"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createSnapshot: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                vmId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSnapshot"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SnapshotCreated"];
                    };
                };
            };
        };
    };
    getSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Snapshot"];
                    };
                };
            };
        };
    };
    deleteSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    updateSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSnapshot"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Snapshot"];
                    };
                };
            };
        };
    };
    restoreSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    startBulkAction: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartBulkAction"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BulkActionQuote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BulkActionStarted"];
                    };
                };
            };
        };
    };
    listBackups: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path: {
                vmId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Backup"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createBackup: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                vmId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBackup"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BackupCreated"];
                    };
                };
            };
        };
    };
    getBackup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Backup"];
                    };
                };
            };
        };
    };
    deleteBackup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BackupDeleted"];
                    };
                };
            };
        };
    };
    updateBackup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateBackup"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Backup"];
                    };
                };
            };
        };
    };
    getBackupScreenshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BackupScreenshot"];
                    };
                };
            };
        };
    };
    restoreBackup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vmId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RestoreBackup"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    listImages: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only those of this kind */
                kind?: "DISK" | "ISO";
                status?: "CREATING" | "AVAILABLE" | "FAILED" | "DELETING";
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending */
                sort?: "createdAt" | "-createdAt" | "name" | "-name" | "kind" | "-kind" | "status" | "-status" | "size" | "-size" | "priceMonthly" | "-priceMonthly";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Image"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createImage: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateImage"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ImageCreated"];
                    };
                };
            };
        };
    };
    getImage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Image"];
                    };
                };
            };
        };
    };
    deleteImage: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Image"] | components["schemas"]["Quote"];
                    };
                };
            };
        };
    };
    updateImage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateImage"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Image"];
                    };
                };
            };
        };
    };
    checkPacket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckPacket"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["FirewallVerdict"];
                    };
                };
            };
        };
    };
    listBandwidth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["BandwidthUsage"][];
                    };
                };
            };
        };
    };
    listBandwidthPacks: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path: {
                vmId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Transaction"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    buyBandwidthPack: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                vmId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BuyBandwidthPack"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Transaction"];
                    };
                };
            };
        };
    };
    listAddresses: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only those of this region */
                regionId?: string;
                /** @description Only those of this VM */
                vmId?: string;
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending; region by its name */
                sort?: "createdAt" | "-createdAt" | "address" | "-address" | "name" | "-name" | "region" | "-region" | "priceMonthly" | "-priceMonthly";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Address"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    reserveAddress: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReserveAddress"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Address"];
                    };
                };
            };
        };
    };
    getAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Address"];
                    };
                };
            };
        };
    };
    releaseAddress: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ReleasedAddress"] | components["schemas"]["Quote"];
                    };
                };
            };
        };
    };
    updateAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAddress"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Address"];
                    };
                };
            };
        };
    };
    assignAddress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssignAddress"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AddressMoving"];
                    };
                };
            };
        };
    };
    unassignAddress: {
        parameters: {
            query?: {
                /** @description The VM that has it now: if another has it, the answer is 409 */
                expectedVmId?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["AddressMoving"];
                    };
                };
            };
        };
    };
    listVolumes: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only those of this region */
                regionId?: string;
                /** @description Only those of this VM */
                vmId?: string;
                status?: "AVAILABLE" | "ATTACHING" | "ATTACHED" | "DETACHING";
                /** @description Part of the name, in upper or lower case */
                name?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
                /** @description A leading - means descending; region by its name */
                sort?: "createdAt" | "-createdAt" | "name" | "-name" | "sizeGiB" | "-sizeGiB" | "region" | "-region" | "status" | "-status" | "priceMonthly" | "-priceMonthly";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Volume"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createVolume: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVolume"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Volume"];
                    };
                };
            };
        };
    };
    getVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Volume"];
                    };
                };
            };
        };
    };
    deleteVolume: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["DeletedVolume"] | components["schemas"]["Quote"];
                    };
                };
            };
        };
    };
    updateVolume: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateVolume"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Volume"] | components["schemas"]["Quote"];
                    };
                };
            };
        };
    };
    attachVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttachVolume"];
            };
        };
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VolumeChanging"];
                    };
                };
            };
        };
    };
    detachVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VolumeChanging"];
                    };
                };
            };
        };
    };
    listVolumeSnapshots: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path: {
                volumeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VolumeSnapshot"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createVolumeSnapshot: {
        parameters: {
            query?: {
                /** @description Validate, place and price, but change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                volumeId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSnapshot"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Quote"];
                    };
                };
            };
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VolumeSnapshotCreated"];
                    };
                };
            };
        };
    };
    getVolumeSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                volumeId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VolumeSnapshot"];
                    };
                };
            };
        };
    };
    deleteVolumeSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                volumeId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    updateVolumeSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                volumeId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSnapshot"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["VolumeSnapshot"];
                    };
                };
            };
        };
    };
    restoreVolumeSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                volumeId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the action is under way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["ActionStarted"];
                    };
                };
            };
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Alert"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createAlert: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAlert"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Alert"];
                    };
                };
            };
        };
    };
    getAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Alert"];
                    };
                };
            };
        };
    };
    deleteAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    updateAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name?: string | undefined;
                    /** @enum {unknown} */
                    comparison?: ("ABOVE" | "BELOW") | undefined;
                    /** @description Percent, bytes per second, or days */
                    threshold?: number | undefined;
                    /** @description How long it must be so; 5 unless given. Not for trafficPercent and balanceDays, which are so at once */
                    forMinutes?: number | undefined;
                    vmIds?: (string[] | null) | undefined;
                    /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                    labelSelector?: (string | null) | undefined;
                    /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
                    labels?: {
                        [key: string]: string;
                    } | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Alert"];
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                /** @description Only with labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not) */
                labelSelector?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Webhook"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uri
                     * @description An https URL with a public host
                     */
                    url: string;
                    /** @description What to be told of; a name given twice counts once */
                    events: ("vm.created" | "vm.started" | "vm.stopped" | "vm.restarted" | "vm.suspended" | "vm.terminated" | "vm.provisioning" | "vm.error" | "vm.upgrading" | "vm.upgraded" | "vm.upgrade_failed" | "vm.resizing" | "vm.resized" | "vm.resize_failed" | "vm.rebuilding" | "vm.rebuilt" | "vm.rebuild_failed" | "vm.shelved" | "vm.shelve_failed" | "vm.unshelved" | "vm.unshelve_failed" | "vm.rescue_started" | "vm.rescue_failed" | "vm.rescue_expired" | "vm.rescue_ended" | "vm.iso_attached" | "vm.iso_detached" | "vm.initialized" | "vm.initialization_failed" | "vm.network_attached" | "vm.network_detached" | "vm.recovered" | "vm.lost" | "vm.migrated" | "vm.unsuspended" | "vm.unmanaged" | "vm.adopted" | "vm.renewed" | "vm.past_due" | "billing.low_balance" | "billing.payment_received" | "ticket.reply" | "ticket.closed" | "snapshot.created" | "snapshot.deleted" | "snapshot.restored" | "backup.created" | "backup.failed" | "backup.deleted" | "backup.restored" | "backup.verified" | "backup.verification_failed" | "vm.restore_failed" | "image.creating" | "image.created" | "image.failed" | "image.updated" | "image.renewed" | "image.past_due" | "image.deleted" | "bandwidth.throttled" | "bandwidth.unthrottled" | "vm.console_opened" | "address.reserved" | "address.assigned" | "address.unassigned" | "address.assignment_failed" | "address.renewed" | "address.past_due" | "address.released" | "volume.created" | "volume.attached" | "volume.attach_failed" | "volume.detached" | "volume.detach_failed" | "volume.grown" | "volume.grow_failed" | "volume.renewed" | "volume.past_due" | "volume.deleted" | "volume.snapshot_created" | "volume.snapshot_failed" | "volume.snapshot_deleted" | "volume.restored" | "volume.restore_failed" | "maintenance.announced" | "maintenance.cancelled" | "member.updated" | "token.created" | "token.updated" | "token.revoked" | "alert.fired" | "alert.resolved" | "project.created" | "project.updated" | "project.deleted" | "firewall.rules_changed" | "firewall.rules_undone" | "firewall.undo_failed" | "webhook.disabled")[];
                    /** @description must be 0-200 characters on one line, without control characters */
                    description?: string | undefined;
                    /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
                    labels?: {
                        [key: string]: string;
                    } | undefined;
                    /** @description Only events of VMs, volumes, images and addresses whose labels, as the event shows them, meet this, such as `env=prod,!canary`; other events count as without labels. Null: all */
                    labelSelector?: (string | null) | undefined;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uri
                     * @description An https URL with a public host
                     */
                    url?: string | undefined;
                    /** @description What to be told of; a name given twice counts once */
                    events?: ("vm.created" | "vm.started" | "vm.stopped" | "vm.restarted" | "vm.suspended" | "vm.terminated" | "vm.provisioning" | "vm.error" | "vm.upgrading" | "vm.upgraded" | "vm.upgrade_failed" | "vm.resizing" | "vm.resized" | "vm.resize_failed" | "vm.rebuilding" | "vm.rebuilt" | "vm.rebuild_failed" | "vm.shelved" | "vm.shelve_failed" | "vm.unshelved" | "vm.unshelve_failed" | "vm.rescue_started" | "vm.rescue_failed" | "vm.rescue_expired" | "vm.rescue_ended" | "vm.iso_attached" | "vm.iso_detached" | "vm.initialized" | "vm.initialization_failed" | "vm.network_attached" | "vm.network_detached" | "vm.recovered" | "vm.lost" | "vm.migrated" | "vm.unsuspended" | "vm.unmanaged" | "vm.adopted" | "vm.renewed" | "vm.past_due" | "billing.low_balance" | "billing.payment_received" | "ticket.reply" | "ticket.closed" | "snapshot.created" | "snapshot.deleted" | "snapshot.restored" | "backup.created" | "backup.failed" | "backup.deleted" | "backup.restored" | "backup.verified" | "backup.verification_failed" | "vm.restore_failed" | "image.creating" | "image.created" | "image.failed" | "image.updated" | "image.renewed" | "image.past_due" | "image.deleted" | "bandwidth.throttled" | "bandwidth.unthrottled" | "vm.console_opened" | "address.reserved" | "address.assigned" | "address.unassigned" | "address.assignment_failed" | "address.renewed" | "address.past_due" | "address.released" | "volume.created" | "volume.attached" | "volume.attach_failed" | "volume.detached" | "volume.detach_failed" | "volume.grown" | "volume.grow_failed" | "volume.renewed" | "volume.past_due" | "volume.deleted" | "volume.snapshot_created" | "volume.snapshot_failed" | "volume.snapshot_deleted" | "volume.restored" | "volume.restore_failed" | "maintenance.announced" | "maintenance.cancelled" | "member.updated" | "token.created" | "token.updated" | "token.revoked" | "alert.fired" | "alert.resolved" | "project.created" | "project.updated" | "project.deleted" | "firewall.rules_changed" | "firewall.rules_undone" | "firewall.undo_failed" | "webhook.disabled")[] | undefined;
                    /** @description must be 0-200 characters on one line, without control characters */
                    description?: string | undefined;
                    /** @description At most 64, such as {"env": "prod", "example.com/team": "core"}; those given replace all that there were */
                    labels?: {
                        [key: string]: string;
                    } | undefined;
                    /** @description Only events of VMs, volumes, images and addresses whose labels, as the event shows them, meet this, such as `env=prod,!canary`; other events count as without labels. Null: all */
                    labelSelector?: (string | null) | undefined;
                    /** @description true begins anew with a failCount of 0; false cancels what is still to be sent */
                    isActive?: boolean | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            /** @description Whether the receiver took the test event, and if not, why */
                            message: string;
                        };
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                status?: "PENDING" | "SUCCEEDED" | "EXHAUSTED" | "CANCELLED";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookDelivery"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookDeliveryLog"];
                    };
                };
            };
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["WebhookDelivery"];
                    };
                };
            };
        };
    };
    listTickets: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
                status?: "OPEN" | "ANSWERED" | "CLOSED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Ticket"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createTicket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-200 characters on one line */
                    subject: string;
                    /** @description Plain text: nothing in it is ever read as markup */
                    body: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TicketWithReplies"];
                    };
                };
            };
        };
    };
    getTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TicketWithReplies"];
                    };
                };
            };
        };
    };
    replyToTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Plain text: nothing in it is ever read as markup */
                    body: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["TicketReply"];
                    };
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                /** @description The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Project"][];
                        pagination: components["schemas"]["Pagination"];
                        /** @description Reads on after the last item; null where there is none */
                        nextCursor: string | null;
                    };
                };
            };
        };
    };
    createProject: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name: string;
                    budget?: ({
                        /** @description What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit */
                        monthlyAmount?: (string | null) | undefined;
                        /** @description How many VMs that were created through it may exist at a time; null = no limit */
                        maxVms?: (number | null) | undefined;
                        /** @description It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything */
                        labelSelector?: (string | null) | undefined;
                    } | null) | undefined;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Project"];
                    };
                };
            };
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Project"];
                    };
                };
            };
        };
    };
    deleteProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: {
                            id: string;
                        };
                    };
                };
            };
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description must be 1-100 characters on one line, without control characters */
                    name?: string | undefined;
                    budget?: ({
                        /** @description What may be charged through it in a calendar month (UTC), for example "50.00"; null = no limit */
                        monthlyAmount?: (string | null) | undefined;
                        /** @description How many VMs that were created through it may exist at a time; null = no limit */
                        maxVms?: (number | null) | undefined;
                        /** @description It can be charged only for what has labels that meet all of these, separated by commas: `env=prod`, `env!=prod` (also without the label), `env in (prod,test)`, `env notin (prod,test)`, `env` (has the label), `!env` (has it not); null = for everything */
                        labelSelector?: (string | null) | undefined;
                    } | null) | undefined;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["Project"];
                    };
                };
            };
        };
    };
    search: {
        parameters: {
            query: {
                /** @description Part of a name, id, address, reverse name or label, in any case; all of it is literal text */
                q: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        data: components["schemas"]["SearchResult"][];
                    };
                };
            };
        };
    };
}
